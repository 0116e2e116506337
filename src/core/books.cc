#include "core/books.h"

#include <algorithm>

#include "base/check.h"

namespace fairlead {
namespace {

bool reserved_now(const State& state, NodeIndex node) {
  return state.fleet.node(node).facts.reserved;
}

Column held_column(const State& state, const DeviceBook& book) {
  if (state.frozen) return Column::held_unmeasured;
  switch (book.activity.look) {
    case Look::unknown:
      return Column::held_unmeasured;
    case Look::active:
      return Column::useful;
    case Look::idle:
    case Look::stuck:
      return Column::held_idle;
  }
  return Column::held_unmeasured;
}

Running* running_of(RunUse& use, Column column) {
  if (column == Column::useful) return &use.useful;
  if (column == Column::held_idle) return &use.held_idle;
  if (column == Column::held_unmeasured) return &use.held_unmeasured;
  return nullptr;
}

RunUse& use_of_model(Workload& workload, NameId model) {
  for (RunUse& use : workload.use) {
    if (use.model == model) return use;
  }
  workload.use.push_back({.model = model});
  return workload.use.back();
}

// Finds or makes the closed hour.
HourUse& closed_hour(RunUse& use, int64_t hour) {
  const auto at = std::ranges::lower_bound(use.hours, hour, {}, &HourUse::hour);
  if (at != use.hours.end() && at->hour == hour) return *at;
  return *use.hours.insert(at, {.hour = hour});
}

int64_t& field_of(HourUse& use, Column column) {
  return column == Column::useful      ? use.useful
         : column == Column::held_idle ? use.held_idle
                                       : use.held_unmeasured;
}

// The run's own copy of a posting, split at the hours as the ledger splits it.
void post_use(State& state, Workload& workload, const Account& account, int64_t milli,
              int64_t second) {
  const LedgerData& books = state.ledger.data();
  RunUse& use = use_of_model(workload, account.model);
  Running* running = running_of(use, account.column);
  if (running == nullptr) return;
  second = std::max(second, books.opened);
  running->amount += milli;
  running->weighted += milli * std::max<int64_t>(second - books.hour, 0);
  while (second < books.hour) {
    const int64_t hour = second / kLedgerHour * kLedgerHour;
    field_of(closed_hour(use, hour), account.column) += milli * (hour + kLedgerHour - second);
    second = hour + kLedgerHour;
  }
}

Workload* holder_of(State& state, const DeviceBook& book) {
  if (book.holder == 0) return nullptr;
  const auto it = state.workloads.find(book.holder);
  CHECK(it != state.workloads.end());
  return &it->second;
}

bool counts_as_free(Column c) { return c == Column::free || c == Column::stranded; }

// The first second, `second` or later, from which on `account` still has a device in every hour.
// What was not held may be booked to a run without saying of which device (`take_from_unheld`);
// what is told late of a device may not take the same seconds again.
int64_t first_unspent(const State& state, const Account& account, int64_t second) {
  const int64_t now = floor_seconds(state.now);
  if (is_held(account.column) || second >= now) return second;
  second = std::max(second, state.ledger.data().opened);
  int64_t from = now;
  while (from > second) {
    const int64_t hour = (from - 1) / kLedgerHour * kLedgerHour;
    const int64_t wanted = from - std::max(hour, second);
    const int64_t there = state.ledger.booked(account, hour, now) / kMilli;
    from -= std::clamp<int64_t>(there, 0, wanted);
    if (there < wanted) break;
  }
  return from;
}

// Moves the device's amount to `to` from `second` on, with everything that is counted beside it.
void move_device(State& state, DeviceIndex device, const Account& to, Workload* from_run,
                 Workload* to_run, int64_t second) {
  DeviceBook& book = state.devices[device];
  second = first_unspent(state, book.account, second);
  state.ledger.move(book.account, to, kMilli, second);
  if (from_run != nullptr) post_use(state, *from_run, book.account, -kMilli, second);
  if (to_run != nullptr) post_use(state, *to_run, to, kMilli, second);
  int32_t& free = state.node_free[state.fleet.device(device).node];
  free += (counts_as_free(to.column) ? 1 : 0) - (counts_as_free(book.account.column) ? 1 : 0);
  book.account = to;
  book.since = second;
}

Account target_account(State& state, DeviceIndex device, const Workload* holder) {
  const Column column = column_of(state, device);
  const NameId model = state.fleet.device(device).model;
  if (holder != nullptr) return account_of(*holder, model, column);
  return {.model = model, .column = column};
}

// The books open with the first hardware that is known, not with the first poll, which may have
// failed: a window that begins before it would hold seconds that nobody can account for.
void open_books(State& state) { state.ledger.open(floor_seconds(state.now)); }

}  // namespace

Account account_of(const Workload& w, NameId model, Column column) {
  return {.model = model,
          .team = w.team,
          .klass = w.klass,
          .user = w.user,
          .partition = w.partition,
          .column = column};
}

ByColumn use_of(const State& state, const Workload& workload) {
  ByColumn sum = workload.before;
  const int64_t offset = floor_seconds(state.now) - state.ledger.data().hour;
  for (const RunUse& use : workload.use) {
    sum.useful += use.useful.seconds_until(offset);
    sum.held_idle += use.held_idle.seconds_until(offset);
    sum.held_unmeasured += use.held_unmeasured.seconds_until(offset);
    for (const HourUse& hour : use.hours) {
      sum.useful += hour.useful;
      sum.held_idle += hour.held_idle;
      sum.held_unmeasured += hour.held_unmeasured;
    }
  }
  return sum;
}

Column column_of(const State& state, DeviceIndex device) {
  const DeviceBook& book = state.devices[device];
  if (book.holder != 0) return held_column(state, book);
  const NodeIndex node = state.fleet.device(device).node;
  if (!state.fleet.node(node).usable) return Column::down;
  if (reserved_now(state, node)) return Column::reserved;
  return book.stranded ? Column::stranded : Column::free;
}

void refresh(State& state, DeviceIndex device, Instant at) {
  DeviceBook& book = state.devices[device];
  Workload* holder = holder_of(state, book);
  const Account to = target_account(state, device, holder);
  if (to == book.account) return;
  move_device(state, device, to, is_held(book.account.column) ? holder : nullptr, holder,
              std::max(floor_seconds(at), book.since));
}

void refresh_node(State& state, NodeIndex node, Instant at) {
  for (const DeviceIndex device : state.fleet.node(node).devices) refresh(state, device, at);
}

void refresh_all(State& state, Instant at) {
  for (NodeIndex node = 0; node < state.fleet.nodes().size(); ++node) refresh_node(state, node, at);
}

void add_device(State& state, DeviceIndex device, Instant at) {
  if (state.devices.size() <= device) state.devices.resize(device + 1);
  const Device& facts = state.fleet.device(device);
  if (state.node_free.size() <= facts.node) state.node_free.resize(facts.node + 1, 0);
  DeviceBook& book = state.devices[device];
  book = {.since = floor_seconds(at)};
  book.account = {.model = facts.model, .column = column_of(state, device)};
  if (counts_as_free(book.account.column)) ++state.node_free[facts.node];
  open_books(state);
  state.ledger.post_hardware(kMilli, book.since);
  state.ledger.post(book.account, kMilli, book.since);
}

void remove_device(State& state, DeviceIndex device, Instant at) {
  release(state, device, at);
  DeviceBook& book = state.devices[device];
  const int64_t second =
      first_unspent(state, book.account, std::max(floor_seconds(at), book.since));
  if (counts_as_free(book.account.column)) --state.node_free[state.fleet.device(device).node];
  state.ledger.post(book.account, -kMilli, second);
  state.ledger.post_hardware(-kMilli, second);
}

void advance_books(State& state, Instant at) {
  if (state.ledger.data().opened == 0) return;
  const int64_t before = state.ledger.data().hour;
  state.ledger.advance(floor_seconds(at));
  for (int64_t hour = before; hour < state.ledger.data().hour; hour += kLedgerHour) {
    for (const WorkloadId id : state.queues.holding()) {
      for (RunUse& use : state.workloads.at(id).use) {
        for (const Column column : {Column::useful, Column::held_idle, Column::held_unmeasured}) {
          Running& running = *running_of(use, column);
          const int64_t amount = running.seconds_until(kLedgerHour);
          running.weighted = 0;
          if (amount != 0) field_of(closed_hour(use, hour), column) += amount;
        }
      }
    }
  }
}

void hold_unplaced(State& state, Workload& workload, int64_t milli, Instant at) {
  if (milli == 0) return;
  const NameId model = state.names.intern(workload.job.request.devices.model);
  const Account account = account_of(workload, model, Column::held_unmeasured);
  const int64_t second = floor_seconds(at);
  open_books(state);
  state.ledger.post_hardware(milli, second);
  state.ledger.post(account, milli, second);
  post_use(state, workload, account, milli, second);
  workload.unplaced_milli += milli;
  state.unplaced_milli += milli;
}

void hold(State& state, Workload& workload, DeviceIndex device, Instant at) {
  DeviceBook& book = state.devices[device];
  if (book.holder == workload.id) return;
  release(state, device, at);
  book.holder = workload.id;
  begin_run(book.activity, at);
  const Account to = target_account(state, device, &workload);
  move_device(state, device, to, nullptr, &workload, std::max(floor_seconds(at), book.since));
  workload.devices.push_back(device);
}

void release(State& state, DeviceIndex device, Instant at) {
  DeviceBook& book = state.devices[device];
  if (book.holder == 0) return;
  Workload* holder = holder_of(state, book);
  book.holder = 0;
  book.stranded = false;
  std::erase(holder->devices, device);
  const Account to = target_account(state, device, nullptr);
  move_device(state, device, to, holder, nullptr, std::max(floor_seconds(at), book.since));
}

int64_t lose_work(State& state, Workload& workload) {
  int64_t lost = 0;
  const int64_t open = state.ledger.data().hour;
  const int64_t offset = floor_seconds(state.now) - open;
  const auto move = [&](NameId model, Column column, int64_t hour, int64_t amount) {
    if (amount == 0) return;
    state.ledger.correct(account_of(workload, model, column),
                         account_of(workload, model, Column::lost), hour, amount);
    lost += amount;
  };
  for (RunUse& use : workload.use) {
    for (const Column column : {Column::useful, Column::held_unmeasured}) {
      Running& running = *running_of(use, column);
      const int64_t amount = running.seconds_until(offset);
      move(use.model, column, open, amount);
      running.weighted += amount;
      for (HourUse& hour : use.hours) {
        move(use.model, column, hour.hour, field_of(hour, column));
        field_of(hour, column) = 0;
      }
    }
  }
  workload.before.lost += lost;
  return lost / kMilli;
}

void unmeasure(State& state, Workload& workload, Instant last_seen) {
  for (const DeviceIndex device : workload.devices) {
    Account to = state.devices[device].account;
    to.column = Column::held_unmeasured;
    if (to == state.devices[device].account) continue;
    move_device(state, device, to, &workload, &workload,
                std::max(floor_seconds(last_seen), state.devices[device].since));
  }
}

void fold_use(State& state, Workload& workload) {
  const int64_t open = state.ledger.data().hour;
  const int64_t offset = floor_seconds(state.now) - open;
  for (RunUse& use : workload.use) {
    for (const Column column : {Column::useful, Column::held_idle, Column::held_unmeasured}) {
      Running& running = *running_of(use, column);
      CHECK(running.amount == 0);
      field_of(closed_hour(use, open), column) += running.seconds_until(offset);
      running = {};
    }
  }
}

int64_t take_from_unheld(State& state, const Account& to, int64_t hour, int64_t amount) {
  int64_t taken = 0;
  for (const Column column : {Column::free, Column::stranded, Column::reserved, Column::down}) {
    const Account from{.model = to.model, .column = column};
    const int64_t there = state.ledger.booked(from, hour, floor_seconds(state.now));
    const int64_t part = std::clamp<int64_t>(there, 0, amount - taken);
    if (part == 0) continue;
    state.ledger.correct(from, to, hour, part);
    taken += part;
  }
  return taken;
}

void hold_from_start(State& state, Workload& workload) {
  const int64_t start = std::max(floor_seconds(workload.run_start), state.ledger.data().opened);
  for (const DeviceIndex device : workload.devices) {
    const Account& account = state.devices[device].account;
    for_each_hour(start, state.devices[device].since, [&](int64_t hour, int64_t length) {
      const int64_t taken = take_from_unheld(state, account, hour, kMilli * length);
      if (taken == 0) return;
      field_of(closed_hour(use_of_model(workload, account.model), hour), account.column) += taken;
    });
  }
}

void rebook(State& state, Workload& workload, NameId team, NameId klass) {
  if (workload.team == team && workload.klass == klass) return;
  const int64_t open = state.ledger.data().hour;
  const int64_t offset = floor_seconds(state.now) - open;
  const auto move = [&](NameId model, Column column, int64_t hour, int64_t amount) {
    if (amount == 0) return;
    const Account from = account_of(workload, model, column);
    Account to = from;
    to.team = team;
    to.klass = klass;
    state.ledger.correct(from, to, hour, amount);
  };
  for (RunUse& use : workload.use) {
    for (const Column column : {Column::useful, Column::held_idle, Column::held_unmeasured}) {
      move(use.model, column, open, running_of(use, column)->seconds_until(offset));
      for (HourUse& hour : use.hours) move(use.model, column, hour.hour, field_of(hour, column));
    }
  }
  const int64_t unplaced = workload.unplaced_milli;
  hold_unplaced(state, workload, -unplaced, state.now);
  workload.team = team;
  workload.klass = klass;
  hold_unplaced(state, workload, unplaced, state.now);
  for (const DeviceIndex device : workload.devices) refresh(state, device, state.now);
}

void close_use(State& state, Workload& workload) {
  workload.before = use_of(state, workload);
  workload.use.clear();
}

std::vector<bool> members_of(const State& state, const std::string& list) {
  std::vector<bool> members(state.fleet.nodes().size(), list.empty());
  size_t begin = 0;
  while (begin < list.size()) {
    const size_t comma = std::min(list.find(',', begin), list.size());
    const auto it = state.partitions.find(list.substr(begin, comma - begin));
    if (it != state.partitions.end()) {
      for (const std::string& name : it->second.nodes) {
        if (const auto index = state.fleet.find(name)) members[*index] = true;
      }
    }
    begin = comma + 1;
  }
  return members;
}

std::vector<NodeRoom> rooms_of(const State& state) {
  std::vector<NodeRoom> rooms;
  rooms.reserve(state.fleet.nodes().size());
  for (NodeIndex i = 0; i < state.fleet.nodes().size(); ++i) {
    const FleetNode& node = state.fleet.node(i);
    if (!node.present) continue;
    const int32_t free = i < state.node_free.size() ? state.node_free[i] : 0;
    rooms.push_back({.node = i,
                     .devices_free = free,
                     .cpus_free = node.facts.cpus - node.facts.cpus_used,
                     .memory_free_mb = node.facts.memory_mb - node.facts.memory_used_mb,
                     .in_service = node.usable,
                     .reserved = reserved_now(state, i)});
  }
  return rooms;
}

void mark_stranded(State& state, Instant at) {
  // Only nodes with something free can be served; once all of them are, further shapes change
  // nothing.
  std::vector<bool> served(state.fleet.nodes().size(), state.queues.waiting().empty());
  std::vector<NodeRoom> rooms = rooms_of(state);
  std::erase_if(rooms, [](const NodeRoom& room) { return room.devices_free == 0; });
  size_t unserved = rooms.size();
  std::map<std::string, std::vector<bool>> members;
  for (const auto& [shape, count] : state.queues.waiting_shapes()) {
    if (unserved == 0) break;
    auto [it, added] = members.try_emplace(shape.partition);
    if (added) it->second = members_of(state, shape.partition);
    const Fit found = fit(shape, state.fleet, rooms, it->second);
    if (!found.fits_now) continue;
    for (const NodeIndex node : found.takes) {
      unserved -= served[node] ? 0 : 1;
      served[node] = true;
    }
  }
  for (DeviceIndex device = 0; device < state.devices.size(); ++device) {
    DeviceBook& book = state.devices[device];
    const Device& facts = state.fleet.device(device);
    if (!facts.present || book.holder != 0) continue;
    const bool stranded = !served[facts.node];
    if (stranded == book.stranded) continue;
    book.stranded = stranded;
    refresh(state, device, at);
  }
}

}  // namespace fairlead

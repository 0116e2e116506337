#include "contest/match.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/hostlist.h"
#include "base/words.h"
#include "policy/identity.h"

namespace fairlead::contest {
namespace {

using policy::Organisation;

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

// A workload of the history that ran, before it is known what it is for the organisation.
struct Ran {
  Job job;
  int64_t devices = 0;
  int32_t nodes = 1;
  NameId user = 0, account = 0, qos = 0, partition = 0, model = 0;
  PoolText places;
};

// One organisation for a site that has none: a team for each account, nothing owned, equal weights.
Organisation organisation_of_accounts(std::set<std::string> accounts,
                                      const std::set<std::string>& classes,
                                      const std::set<std::string>& devices) {
  Organisation org{.name = "accounts", .version = "v0"};
  for (const std::string& name : devices) org.devices.push_back({.name = name, .models = {name}});
  for (const std::string& name : classes) org.classes.push_back({.name = name});
  constexpr Duration kWeek = seconds(7 * 86400);
  const auto team = [&](const std::string& name) {
    return policy::Team{.name = name,
                        .path = name,
                        .limits = std::vector<policy::Limits>(org.devices.size()),
                        .half_life = kWeek};
  };
  accounts.erase("");
  org.teams.push_back(team("site"));
  for (const std::string& name : accounts) {
    org.teams.push_back(team(name));
    org.teams.back().end = static_cast<TeamId>(org.teams.size());
  }
  org.teams[policy::kRoot].end = static_cast<TeamId>(org.teams.size());
  return org;
}

class Builder {
 public:
  Builder(const History& history, const MatchOptions& options)
      : history_(history), table_(history.table()), options_(options) {
    if (options.organisation) directory_.emplace(*options.organisation);
  }

  Result<Match> build() {
    gather();
    if (ran_.empty())
      return fail("contest-no-jobs", "no job of this history is known to have run",
                  "a contest needs jobs with their length and their devices");
    take_organisation();
    if (const auto ok = take_fleet(); !ok) return std::unexpected(ok.error());
    take_jobs();
    if (match_.jobs.empty())
      return fail("contest-fleet", "no job of this history fits the fleet",
                  "--fleet \"32 x 8 H100\" states another; models must be the organisation's");
    note_rest();
    return std::move(match_);
  }

 private:
  template <class... Args>
  void note(fmt::format_string<Args...> text, Args&&... args) {
    match_.notes.push_back(fmt::format(text, std::forward<Args>(args)...));
  }
  std::string_view name(NameId id) const { return table_.name(id); }

  void gather() {
    for (uint32_t i = 0; i < history_.order().size(); ++i) gather(i);
    std::ranges::sort(ran_, {}, [](const Ran& r) { return std::pair(r.job.submit, r.job.name); });
  }
  void gather(uint32_t place) {
    const auto& runs = table_.runs();
    uint32_t at = history_.order()[place];
    Ran ran{.job = {.submit = runs[at].submit, .gang = {}, .name = place}, .places = {}};
    for (; runs[at].continues; ++at) {
      const HistoryRun& lost = runs[at];
      if (lost.how != RunEnd::requeued || lost.start == 0) continue;
      ++ran.job.requeues;
      ran.job.lost += std::max<int64_t>(0, lost.end - lost.start) * lost.devices_held;
    }
    const HistoryRun& run = runs[at];
    ran.devices = std::max(run.devices_held, run.devices_asked);
    if (run.device_first == kPlacedElsewhere) return;  // another run stands for what it held
    if (ran.devices == 0) {
      ++without_devices_;
      return;
    }
    if (run.start == 0) {
      ++never_ran_;
      return;
    }
    const int64_t end = run.open || run.end == 0 ? floor_seconds(history_.until()) : run.end;
    if (run.open) ++cut_off_;
    ran.job.began = run.start;
    ran.job.ended = std::max(end, run.start);
    ran.job.length = std::max<int64_t>(1, end - run.start);
    ran.job.limit = run.time_limit_s > 0 ? run.time_limit_s : ran.job.length;
    with_limit_ += run.time_limit_s > 0 ? 1 : 0;
    ran.nodes = std::max(1, run.nodes_count);
    ran.user = run.user;
    ran.account = run.account;
    ran.qos = run.qos;
    ran.partition = run.partition;
    ran.model = run.model;
    ran.places = run.nodes;
    ran_.push_back(ran);
  }

  void take_organisation() {
    Organisation& org = match_.organisation;
    if (options_.organisation) {
      org = *options_.organisation;
      match_.zones = options_.zones;
    } else {
      std::set<std::string> accounts, classes, devices;
      for (const Ran& r : ran_) {
        accounts.insert(std::string(name(r.account)));
        classes.insert(r.qos == 0 ? "default" : std::string(name(r.qos)));
        if (r.model != 0 && options_.fleet.empty()) devices.insert(std::string(name(r.model)));
      }
      for (const FleetPart& part : options_.fleet)
        if (!part.model.empty()) devices.insert(part.model);
      for (const Node& node : history_.fleet())
        for (const DeviceGroup& group : node.devices)
          if (options_.fleet.empty() && !group.model.empty()) devices.insert(group.model);
      if (devices.empty()) devices.insert("GPU");
      org = organisation_of_accounts(std::move(accounts), classes, devices);
    }
    if (org.classes.empty()) org.classes.push_back({.name = "default"});
    match_.own_entitlement = anybody_owns(org);
  }

  // By the name of a device class or of one of its models, upper and lower case alike.
  std::optional<DeviceId> named_device(std::string_view model) const {
    const auto& devices = match_.organisation.devices;
    const std::string wanted = lower(model);
    for (DeviceId d = 0; d < devices.size(); ++d) {
      if (lower(devices[d].name) == wanted) return d;
      for (const std::string& known : devices[d].models)
        if (lower(known) == wanted) return d;
    }
    return std::nullopt;
  }

  Result<void> take_fleet() {
    const auto& devices = match_.organisation.devices;
    if (devices.empty())
      return fail("contest-fleet", "the organisation has no class of devices",
                  "a team of it has to own some: own 256 H100");
    std::vector<FleetPart> parts = options_.fleet;
    if (parts.empty()) parts = deduced();
    std::vector<std::string> foreign;
    for (const FleetPart& part : parts) {
      const auto device =
          part.model.empty() ? std::optional<DeviceId>(0) : named_device(part.model);
      if (device)
        match_.fleet.push_back({.nodes = part.nodes, .each = part.each, .device = *device});
      else
        foreign.push_back(part.model);
    }
    if (match_.fleet.empty()) {
      std::vector<std::string> known;
      for (const auto& d : devices) known.push_back(d.name);
      return fail(
          "contest-fleet",
          fmt::format("the organisation knows nothing of the fleet's {}", fmt::join(foreign, ", ")),
          fmt::format("its device classes are {}; `devices {} {{ {} }}` adds a model",
                      fmt::join(known, ", "), known[0], foreign.empty() ? "" : foreign[0]));
    }
    for (const std::string& model : foreign)
      note("the organisation does not know {}: these nodes take no part", model);
    std::ranges::sort(match_.fleet, {},
                      [](const NodeGroup& g) { return std::tuple(g.device, -g.each, -g.nodes); });
    std::vector<FleetPart> said;
    std::map<DeviceId, int64_t> sizes;
    for (const NodeGroup& g : match_.fleet) {
      said.push_back({.nodes = g.nodes, .each = g.each, .model = devices[g.device].name});
      sizes[g.device] += int64_t{g.nodes} * g.each;
    }
    default_device_ =
        std::ranges::max_element(sizes, {}, [](const auto& s) { return s.second; })->first;
    one_device_ = sizes.size() == 1;
    match_.notes.insert(match_.notes.begin(),
                        fmt::format("fleet: {}{}", contest::to_text(said), how_deduced_));
    return {};
  }

  std::vector<FleetPart> deduced() {
    std::map<std::pair<std::string, int32_t>, int32_t> count;
    for (const Node& node : history_.fleet())
      for (const DeviceGroup& group : node.devices) ++count[{group.model, group.count}];
    how_deduced_ = ", as the history states it";
    if (count.empty()) {
      count = deduced_of_runs();
      how_deduced_ += "; --fleet states another";
    }
    std::vector<FleetPart> parts;
    for (const auto& [kind, nodes] : count)
      if (kind.second > 0)
        parts.push_back({.nodes = nodes, .each = kind.second, .model = kind.first});
    return parts;
  }

  std::map<std::pair<std::string, int32_t>, int32_t> deduced_of_runs() {
    struct Seen {
      std::set<std::string, std::less<>> nodes;
      int32_t each = 0;
      std::vector<std::pair<int64_t, int64_t>> changes;
    };
    std::map<std::string, Seen> seen;
    std::set<std::string, std::less<>> lists;  // most are named by many runs
    for (const Ran& r : ran_) {
      Seen& s = seen[std::string(name(r.model))];
      s.changes.emplace_back(r.job.began, r.devices);
      s.changes.emplace_back(r.job.ended, -r.devices);
      const std::string_view list = table_.text(r.places);
      if (list.empty()) continue;
      s.each = std::max(s.each, static_cast<int32_t>((r.devices + r.nodes - 1) / r.nodes));
      if (lists.contains(list)) continue;
      lists.emplace(list);
      if (const auto names = expand_hostlist(list)) s.nodes.insert(names->begin(), names->end());
    }
    std::map<std::pair<std::string, int32_t>, int32_t> count;
    bool by_nodes = false;
    for (auto& [model, s] : seen) {
      std::ranges::sort(s.changes);
      int64_t held = 0, peak = 0;
      for (const auto& [at, change] : s.changes) peak = std::max(peak, held += change);
      constexpr int32_t kUsual = 8;  // devices of a node, where nothing says otherwise
      const int32_t each = std::max(s.nodes.empty() ? kUsual : 1, s.each);
      const auto needed = static_cast<int32_t>((peak + each - 1) / each);
      by_nodes = by_nodes || !s.nodes.empty();
      count[{model, each}] = std::max(static_cast<int32_t>(s.nodes.size()), needed);
    }
    how_deduced_ = by_nodes ? ", deduced: the nodes that the history names, or its peak use where "
                              "that is more"
                            : ", deduced from the history's peak use";
    return count;
  }

  std::optional<DeviceId> device_of(const Ran& r) {
    if (r.model == 0) {
      without_model_ += one_device_ ? 0 : 1;
      return default_device_;
    }
    const auto [at, fresh] = devices_.try_emplace(r.model);
    if (fresh) at->second = named_device(name(r.model));
    if (at->second && has_nodes(*at->second)) return at->second;
    if (!one_device_) return std::nullopt;
    ++other_model_;
    return default_device_;
  }
  bool has_nodes(DeviceId device) const {
    return std::ranges::any_of(match_.fleet,
                               [&](const NodeGroup& g) { return g.device == device; });
  }

  void take_jobs() {
    const Board board = match_.board();
    std::map<Gang, uint32_t> shapes;
    match_.jobs.reserve(ran_.size());
    for (Ran& r : ran_) {
      const auto device = device_of(r);
      if (!device) {
        ++no_device_;
        continue;
      }
      const int32_t size = board.node_size(*device);
      r.job.gang =
          r.nodes == 1 ? gang_of(*device, r.devices, size) : gang_on(*device, r.devices, r.nodes);
      if (r.job.gang.each > size) r.job.gang = gang_of(*device, r.devices, size);
      if (!board.fits(r.job.gang)) {
        ++too_large_;
        continue;
      }
      r.job.shape = shapes.try_emplace(r.job.gang, shapes.size()).first->second;
      belong(r);
      match_.jobs.push_back(r.job);
    }
    match_.shapes = static_cast<uint32_t>(shapes.size());
    match_.native = history_.notes().has_starts;
  }

  void belong(Ran& r) {
    const Organisation& org = match_.organisation;
    const auto key = std::tuple(r.account, r.user, r.qos, r.partition);
    const auto [at, fresh] = belongs_.try_emplace(key);
    if (fresh) at->second = belonging(r);
    r.job.team = at->second.first;
    r.job.klass = at->second.second;
    if (options_.organisation && r.job.team == policy::kRoot && org.teams.size() > 1) ++nobodys_;
  }
  std::pair<TeamId, ClassId> belonging(const Ran& r) const {
    const Organisation& org = match_.organisation;
    TeamId team = policy::kRoot;
    if (options_.organisation) {
      const policy::Belonging found = directory_->find(
          {.identities = {{policy::MemberSource::slurm_account, "", std::string(name(r.account))},
                          {policy::MemberSource::slurm_user, "", std::string(name(r.user))},
                          {policy::MemberSource::slurm_qos, "", std::string(name(r.qos))},
                          {policy::MemberSource::slurm_partition, "",
                           std::string(name(r.partition))}},
           .class_words = {{std::string(name(r.qos))}, {std::string(name(r.partition))}}});
      team = found.team.value_or(policy::kRoot);
      if (found.klass) return {team, *found.klass};
    } else if (const auto found = org.team(name(r.account))) {
      team = *found;
    }
    const auto& allowed = org.teams[team].classes;
    const auto klass = org.klass(r.qos == 0 ? "default" : name(r.qos));
    if (klass && (allowed.empty() || std::ranges::find(allowed, *klass) != allowed.end()))
      return {team, *klass};
    if (org.teams[team].default_class) return {team, *org.teams[team].default_class};
    const auto lowest = std::ranges::min_element(org.classes, {}, &policy::Class::rank);
    return {team, static_cast<ClassId>(lowest - org.classes.begin())};
  }

  void note_rest() {
    const auto count = [&](int64_t n, std::string_view what) {
      if (n > 0) note("{}: {}", plural(n, "workload"), what);
    };
    if (with_limit_ == 0)
      note("the history has no time limits: each rule is told how long a job will run");
    else
      count(static_cast<int64_t>(ran_.size()) - with_limit_,
            "without a time limit; rules are told how long they will run");
    count(never_ran_, "left out, never began: how long they would have run is not known");
    count(without_devices_, "left out, asked for no devices");
    count(cut_off_,
          "still ran when the history ends: counted as long as they are known to have run");
    count(too_large_, "left out, larger than the fleet");
    count(no_device_, "left out, of a model that the fleet or the organisation does not have");
    count(other_model_, "of another model than the fleet's: they take what there is");
    count(without_model_, "name no model: they take the one that the fleet has most of");
    count(nobodys_, "of no member of the organisation: booked at its root");
    if (!options_.organisation)
      note("no organisation is given: each account is a team that owns nothing, of equal weight");
  }

  const History& history_;
  const RunTable& table_;
  const MatchOptions& options_;
  std::optional<policy::Directory> directory_;
  Match match_;
  std::vector<Ran> ran_;
  std::map<NameId, std::optional<DeviceId>> devices_;
  std::map<std::tuple<NameId, NameId, NameId, NameId>, std::pair<TeamId, ClassId>> belongs_;
  std::string how_deduced_;
  DeviceId default_device_ = 0;
  bool one_device_ = true;
  int64_t never_ran_ = 0, without_devices_ = 0, cut_off_ = 0, too_large_ = 0, no_device_ = 0;
  int64_t other_model_ = 0, without_model_ = 0, nobodys_ = 0, with_limit_ = 0;
};

}  // namespace

int64_t Form::seconds_for(int64_t work) const {
  constexpr int64_t kOwn = 1'000'000;
  if (speed_ppm == kOwn) return work;
  return static_cast<int64_t>((static_cast<__int128>(work) * kOwn + speed_ppm - 1) / speed_ppm);
}

Form Match::form_of(const Job& job, size_t index) const {
  if (index == 0) return {.gang = job.gang, .shape = job.shape};
  return others[job.others_from + index - 1];
}

std::optional<size_t> Match::form_on(const Job& job, DeviceId device) const {
  for (size_t i = 0; i < forms_of(job); ++i)
    if (form_of(job, i).gang.device == device) return i;
  return std::nullopt;
}

void sort_by_submission(std::vector<Job>& jobs) {
  std::ranges::sort(jobs, {}, [](const Job& j) { return std::pair(j.submit, j.name); });
}

bool anybody_owns(const Organisation& org) {
  return std::ranges::any_of(org.teams, [&](const policy::Team& t) {
    return &t != &org.teams[policy::kRoot] &&
           std::ranges::any_of(t.limits, [](const auto& l) { return l.own.value > 0; });
  });
}

Result<Match> match_of(const History& history, const MatchOptions& options) {
  return Builder(history, options).build();
}

}  // namespace fairlead::contest

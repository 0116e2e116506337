#include "ledger/ledger.h"

#include <algorithm>

#include "base/check.h"

namespace fairlead {

Ledger::Ledger(LedgerData data) : data_(std::move(data)) {
  CHECK(data_.accounts.size() == data_.running.size());
  for (size_t i = 0; i < data_.accounts.size(); ++i) {
    index_.emplace(data_.accounts[i], static_cast<uint32_t>(i));
    sum_.amount += data_.running[i].amount;
    sum_.weighted += data_.running[i].weighted;
  }
}

size_t Ledger::index_of(const Account& account) {
  const auto [it, added] =
      index_.try_emplace(account, static_cast<uint32_t>(data_.accounts.size()));
  if (added) {
    data_.accounts.push_back(account);
    data_.running.emplace_back();
  }
  return it->second;
}

void Ledger::open(int64_t second) {
  CHECK(second > 0);
  if (data_.opened != 0) return;
  data_.opened = second;
  data_.hour = second / kLedgerHour * kLedgerHour;
}

void Ledger::advance(int64_t second) {
  if (data_.opened == 0) return;
  // After a long pause the hours in between are closed one by one: each has its own rows.
  while (second >= data_.hour + kLedgerHour) close_hour();
}

void Ledger::close_hour() {
  ++closed_changes_;
  LedgerHour& closed = data_.hours[data_.hour];
  std::vector<LedgerRow> rows;
  for (size_t i = 0; i < data_.running.size(); ++i) {
    Running& running = data_.running[i];
    const int64_t amount = running.seconds_until(kLedgerHour);
    running.weighted = 0;
    if (amount != 0) rows.push_back({static_cast<uint32_t>(i), amount});
  }
  closed.rows = std::move(rows);
  closed.hardware = data_.hardware.seconds_until(kLedgerHour);
  data_.hardware.weighted = 0;
  sum_.weighted = 0;
  data_.hour += kLedgerHour;
  if (data_.hours.size() > kLedgerHoursMax) data_.hours.erase(data_.hours.begin());
}

void Ledger::add_to_closed(int64_t hour, size_t account, int64_t milli_seconds) {
  const auto found = data_.hours.find(hour);
  if (found == data_.hours.end()) return;  // older than what is kept
  ++closed_changes_;
  std::vector<LedgerRow>& rows = found->second.rows;
  const auto at =
      std::ranges::lower_bound(rows, static_cast<uint32_t>(account), {}, &LedgerRow::account);
  if (at != rows.end() && at->account == account) {
    at->milli_seconds += milli_seconds;
  } else {
    rows.insert(at, {static_cast<uint32_t>(account), milli_seconds});
  }
}

void Ledger::post_running(Running& running, Running* sum, int64_t milli, int64_t second) {
  const int64_t offset = std::max<int64_t>(second - data_.hour, 0);
  running.amount += milli;
  running.weighted += milli * offset;
  if (sum == nullptr) return;
  sum->amount += milli;
  sum->weighted += milli * offset;
}

namespace {

// Calls f(hour, seconds) for each part of [second, open) that lies in a closed hour.
template <class F>
void for_each_closed_part(int64_t second, int64_t open, F&& f) {
  while (second < open) {
    const int64_t hour = second / kLedgerHour * kLedgerHour;
    const int64_t end = std::min(hour + kLedgerHour, open);
    f(hour, end - second);
    second = end;
  }
}

}  // namespace

void Ledger::post(const Account& account, int64_t milli, int64_t second) {
  CHECK(data_.opened != 0);
  second = std::max(second, data_.opened);
  const size_t i = index_of(account);
  post_running(data_.running[i], &sum_, milli, second);
  for_each_closed_part(second, data_.hour, [&](int64_t hour, int64_t length) {
    add_to_closed(hour, i, milli * length);
  });
}

void Ledger::post_hardware(int64_t milli, int64_t second) {
  CHECK(data_.opened != 0);
  second = std::max(second, data_.opened);
  post_running(data_.hardware, nullptr, milli, second);
  for_each_closed_part(second, data_.hour, [&](int64_t hour, int64_t length) {
    if (const auto it = data_.hours.find(hour); it != data_.hours.end())
      it->second.hardware += milli * length;
  });
}

void Ledger::move(const Account& from, const Account& to, int64_t milli, int64_t second) {
  post(from, -milli, second);
  post(to, milli, second);
}

void Ledger::correct(const Account& from, const Account& to, int64_t hour, int64_t milli_seconds) {
  const size_t source = index_of(from);
  const size_t target = index_of(to);
  if (hour != data_.hour) {
    add_to_closed(hour, source, -milli_seconds);
    add_to_closed(hour, target, milli_seconds);
    return;
  }
  data_.running[source].weighted +=
      milli_seconds;  // fewer seconds until now, same amount from now on
  data_.running[target].weighted -= milli_seconds;
}

int64_t Ledger::booked(const Account& account, int64_t hour, int64_t second) const {
  const auto index = index_.find(account);
  if (index == index_.end()) return 0;
  if (hour == data_.hour) return data_.running[index->second].seconds_until(second - hour);
  const auto found = data_.hours.find(hour);
  if (found == data_.hours.end()) return 0;
  const std::vector<LedgerRow>& rows = found->second.rows;
  const auto at = std::ranges::lower_bound(rows, index->second, {}, &LedgerRow::account);
  return at != rows.end() && at->account == index->second ? at->milli_seconds : 0;
}

int64_t Ledger::first_unbalanced_hour() const {
  for (const auto& [start, hour] : data_.hours) {
    int64_t sum = 0;
    for (const LedgerRow& row : hour.rows) sum += row.milli_seconds;
    if (sum != hour.hardware) return start;
  }
  Running sum;
  for (const Running& running : data_.running) {
    sum.amount += running.amount;
    sum.weighted += running.weighted;
  }
  return sum == data_.hardware ? 0 : data_.hour;
}

}  // namespace fairlead

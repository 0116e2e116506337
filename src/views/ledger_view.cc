#include "views/ledger_view.h"

namespace fairlead {

namespace {

Instant opened_at(const State& state) {
  const int64_t opened = state.ledger.data().opened;
  return opened != 0 ? instant_of_seconds(opened) : state.now;
}

}  // namespace

LedgerView ledger_of(const State& state, Instant from) {
  LedgerView view{.site = state.site, .from = opened_at(state), .to = state.now};
  const int64_t begin = floor_seconds(from) / kLedgerHour * kLedgerHour;
  state.ledger.for_each(begin, floor_seconds(state.now),
                        [&](const Account& a, int64_t hour, int64_t ms) {
                          view.rows.push_back({.hour = instant_of_seconds(hour),
                                               .model = state.names.name(a.model),
                                               .team = state.names.name(a.team),
                                               .klass = state.names.name(a.klass),
                                               .user = state.names.name(a.user),
                                               .partition = state.names.name(a.partition),
                                               .column = a.column,
                                               .gpu_milliseconds = ms});
                        });
  return view;
}

LedgerCheck check_ledger(const Engine& engine) {
  const State& state = engine.state();
  const LedgerData& books = state.ledger.data();
  LedgerCheck check{.site = state.site,
                    .from = opened_at(state),
                    .to = state.now,
                    .hours = static_cast<int64_t>(books.hours.size()) + (books.opened != 0 ? 1 : 0),
                    .accounts = static_cast<int64_t>(books.accounts.size())};
  ByColumn all;
  const int64_t until = floor_seconds(state.now);
  state.ledger.for_each(0, until,
                        [&](const Account& a, int64_t, int64_t ms) { all[a.column] += ms; });
  int64_t hardware = books.hardware.seconds_until(until - books.hour);
  for (const auto& [start, hour] : books.hours) hardware += hour.hardware;
  check.gpu_seconds = columns_of(all);
  check.hardware_gpu_seconds = hardware / kMilli;
  check.problem = engine.recount();
  if (check.problem.empty() && all.total() != hardware)
    check.problem = "the columns and the hardware differ";
  check.adds_up = check.problem.empty();
  check.digest = to_text(engine.digest());
  return check;
}

}  // namespace fairlead

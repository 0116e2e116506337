#include "explain/life.h"

#include <algorithm>
#include <charconv>

namespace fairlead {
namespace {

std::string how(JobState state) {
  return state == JobState::pending ? "requeued" : enum_name(state);
}

void add_runs(const std::vector<RunRecord>& former, int32_t epochs, Explanation& x) {
  // The oldest runs of a job that was requeued very often are not kept.
  int32_t epoch = epochs - static_cast<int32_t>(former.size());
  for (const RunRecord& run : former) {
    x.runs.push_back({.epoch = ++epoch,
                      .submitted = run.submit,
                      .started = run.start,
                      .ended = run.end,
                      .state = how(run.state),
                      .exit_code = run.exit_code,
                      .nodes = run.nodes});
  }
}

void add_spans(Instant submitted, Instant first_start, Instant end, Explanation& x) {
  if (!first_start.known()) first_start = end;
  x.waited_us = std::max<int64_t>(0, (first_start - submitted).us);
  for (const RunTold& run : x.runs) {
    if (run.started.known()) x.ran_us += std::max<int64_t>(0, (run.ended - run.started).us);
  }
}

}  // namespace

void tell_life(const State&, const Workload& w, Explanation& x) {
  x.time_limit_s = w.job.request.time_limit_s;
  const bool last_is_former = !w.former.empty() && w.former.back().start == w.run_start;
  const bool ran = w.epoch > 0 && !last_is_former;
  add_runs(w.former, w.epoch - (ran ? 1 : 0), x);
  if (!w.ended) return;
  x.over = true;
  x.exit_code = w.job.exit_code;
  if (!x.ended.known() || x.ended < w.job.end) x.ended = w.job.end;
  if (ran) {
    x.runs.push_back({.epoch = w.epoch,
                      .submitted = w.job.submit,
                      .started = w.run_start,
                      .ended = w.run_end,
                      .state = how(w.job.state),
                      .exit_code = w.job.exit_code,
                      .nodes = w.job.nodes});
  }
  add_spans(w.first_submit, w.first_start, x.ended, x);
  if (w.unsettled)
    x.note = "the scheduler no longer knows it, and accounting has not told yet how it ended";
  else if (w.job.state == JobState::vanished)
    x.note = "the scheduler no longer knows it; when it ended is not known";
}

const PastWorkload* find_past(const State& state, std::string_view label) {
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(label.data(), label.data() + label.size(), number);
  const bool numbered = error == std::errc{} && end == label.data() + label.size();
  for (auto it = state.past.rbegin(); it != state.past.rend(); ++it) {
    if (it->label == label || (numbered && it->job == number)) return &*it;
  }
  return nullptr;
}

Explanation explain_past(const State& state, const PastWorkload& past) {
  const NameTable& names = state.names;
  Explanation x{.workload = past.label,
                .name = names.name(past.name),
                .user = names.name(past.user),
                .team = names.name(past.team),
                .klass = names.name(past.klass),
                .partition = names.name(past.partition),
                .state = enum_name(past.state),
                .as_of = past.end,
                .submitted = past.submit};
  x.wants = past.shape != 0 ? names.name(past.shape) : count_text(past.devices, "devices");
  if (past.time_limit_s >= 0)
    x.wants += ", time limit " + to_short_text(seconds(past.time_limit_s));
  x.started = past.last.start;
  x.ended = past.end;
  x.nodes = past.last.nodes;
  x.epoch = past.epochs;
  x.gpu_seconds = past.milli_seconds;
  for (size_t c = 0; c < kColumns; ++c) x.gpu_seconds[static_cast<Column>(c)] /= kMilli;
  x.over = true;
  x.time_limit_s = past.time_limit_s;
  x.exit_code = past.last.exit_code;
  const bool ran = past.last.start.known();
  add_runs(past.former, past.epochs - (ran ? 1 : 0), x);
  if (ran) {
    x.runs.push_back({.epoch = past.epochs,
                      .submitted = past.last.submit,
                      .started = past.last.start,
                      .ended = past.last.end,
                      .state = how(past.last.state),
                      .exit_code = past.last.exit_code,
                      .nodes = past.last.nodes});
  }
  add_spans(past.submit, past.first_start, past.end, x);
  x.note = past.state == JobState::vanished
               ? "the scheduler no longer knows it; when it ended is not known"
               : "the scheduler no longer lists it";
  return x;
}

}  // namespace fairlead

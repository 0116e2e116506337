#include "evidence/activity.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace fairlead {
namespace {

// Idle draw by model, with a margin of about a third: measured figures of vendors and users differ.
struct IdlePower {
  std::string_view model;
  int64_t mw;
};
constexpr std::array kIdlePower = {IdlePower{"gb200", 260'000}, IdlePower{"b200", 200'000},
                                   IdlePower{"h200", 130'000},  IdlePower{"h100", 130'000},
                                   IdlePower{"a100", 90'000},   IdlePower{"mi300", 200'000},
                                   IdlePower{"v100", 60'000},   IdlePower{"l40", 60'000},
                                   IdlePower{"a10", 40'000},    IdlePower{"t4", 18'000}};

int64_t idle_power_mw(std::string_view model) {
  std::string lower(model);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const IdlePower& row : kIdlePower) {
    if (lower.find(row.model) != lower.npos) return row.mw;
  }
  return 0;  // not known: power proves nothing
}

bool is_stuck(const DeviceSample& s, std::string_view model, const EvidenceRules& rules) {
  if (s.utilisation_ppm < rules.stuck_utilisation_ppm_min) return false;
  if (s.tensor_active_ppm >= 0 && s.memory_active_ppm >= 0) {
    return s.tensor_active_ppm <= rules.stuck_unit_ppm_max &&
           s.memory_active_ppm <= rules.stuck_unit_ppm_max;
  }
  return s.power_mw >= 0 && s.power_mw <= idle_power_mw(model);
}

}  // namespace

Look look_at(const DeviceSample& s, std::string_view model, const EvidenceRules& rules) {
  if (is_stuck(s, model, rules)) return Look::stuck;
  const std::array signals = {s.utilisation_ppm, s.engine_active_ppm, s.sm_active_ppm,
                              s.tensor_active_ppm, s.memory_active_ppm};
  const int64_t most = *std::ranges::max_element(signals);
  if (most < 0) return Look::unknown;
  return most >= rules.active_ppm_min ? Look::active : Look::idle;
}

Seen seen_in(const DeviceSample& sample, std::string_view model, const EvidenceRules& rules) {
  return {.look = look_at(sample, model, rules),
          .process = sample.memory_used_mib >= rules.process_memory_mib_min,
          .process_known = sample.memory_used_mib >= 0};
}

void take_in(Activity& a, Instant at, Seen seen, const EvidenceRules& rules) {
  if (at <= a.at) return;
  const bool first_of_run = a.run_start.known() && a.at < a.run_start;
  if (first_of_run && at > a.run_start + rules.stale_after) a.seen_from_start = false;
  a.at = at;
  a.look = seen.look;
  a.process_known = seen.process_known;
  a.process = seen.process;
  a.ever_process = a.ever_process || a.process;
  if (a.look == Look::active) {
    a.ever_active = true;
    a.quiet_since = {};
  } else if (a.look != Look::unknown && !a.quiet_since.known()) {
    a.quiet_since = at;
  }
}

void begin_run(Activity& a, Instant start) {
  a.ever_active = false;
  a.ever_process = false;
  a.seen_from_start = true;
  a.run_start = start;
  a.quiet_since = {};
  if (a.at < start)
    a.look = Look::unknown;  // a look from before the run says nothing about it
  else if (a.look == Look::idle || a.look == Look::stuck)
    a.quiet_since = a.at;  // the run is told of later than it was seen
}

IdleKind idle_kind(const Activity& a, bool peer_gone) {
  if (a.look == Look::unknown || a.look == Look::active) return IdleKind::none;
  if (peer_gone) return IdleKind::failed_peer;
  if (a.look == Look::stuck) return IdleKind::stuck;
  const bool process_gone = a.process_known && !a.process;
  if (!a.ever_active && a.seen_from_start) return IdleKind::never_used;
  if (process_gone) return IdleKind::no_process;
  return a.ever_active ? IdleKind::used_then_idle : IdleKind::idle;
}

}  // namespace fairlead

#include "core/run_lengths.h"

#include <algorithm>

namespace fairlead {
namespace {

constexpr int64_t kPpm = 1'000'000;

bool came_to_its_end(JobState state) {
  switch (state) {
    case JobState::completed:
    case JobState::failed:
    case JobState::cancelled:
    case JobState::timeout:
    case JobState::deadline:
    case JobState::out_of_memory:
      return true;
    default:
      return false;
  }
}

}  // namespace

void RunLengths::add(const PastWorkload& past) {
  if (past.epochs == 0 || past.run_s <= 0 || !came_to_its_end(past.state)) return;
  const bool limited = past.time_limit_s > 0;
  const int64_t seconds_max = std::min(past.run_s, int64_t{UINT32_MAX});
  const int64_t part =
      limited ? std::min(past.run_s, past.time_limit_s) * kPpm / past.time_limit_s : seconds_max;
  for (const uint64_t key :
       {key_of(past.user, past.klass, limited), key_of(past.user, kAny, limited),
        key_of(kAny, past.klass, limited), key_of(kAny, kAny, limited)}) {
    Kind& kind = kinds_[key];
    kind.runs[kind.next] = static_cast<uint32_t>(part);
    kind.next = (kind.next + 1) % kRunsKept;
    kind.count = std::min(kind.count + 1, kRunsKept);
  }
}

const RunLengths::Kind* RunLengths::like(const Workload& workload) const {
  const bool limited = workload.job.request.time_limit_s > 0;
  for (const uint64_t key :
       {key_of(workload.user, workload.klass, limited), key_of(workload.user, kAny, limited),
        key_of(kAny, workload.klass, limited), key_of(kAny, kAny, limited)}) {
    const auto found = kinds_.find(key);
    if (found != kinds_.end() && found->second.count >= kRunsLeast) return &found->second;
  }
  return nullptr;
}

std::optional<Duration> RunLengths::draw(const Kind* kind, Duration limit, Duration already,
                                         uint64_t chance) {
  const auto length_of = [&](uint32_t run) {
    return limit.us > 0 ? Duration{limit.us / kPpm * run} : seconds(run);
  };
  uint64_t longer = 0;
  const uint32_t count = kind == nullptr ? 0 : kind->count;
  for (uint32_t i = 0; i < count; ++i) longer += length_of(kind->runs[i]) > already ? 1 : 0;
  if (longer == 0) return limit.us > 0 ? std::optional(std::max(limit, already)) : std::nullopt;
  uint64_t chosen = chance % longer;
  for (uint32_t i = 0;; ++i) {
    const Duration length = length_of(kind->runs[i]);
    if (length > already && chosen-- == 0) return length;
  }
}

}  // namespace fairlead

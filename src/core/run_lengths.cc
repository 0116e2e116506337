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
  if (past.epochs == 0 || past.run_s <= 0 || past.devices <= 0) return;
  if (!came_to_its_end(past.state)) return;
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
  std::array<uint32_t, kRunsKept> longer{};
  size_t count = 0;
  for (uint32_t i = 0; kind != nullptr && i < kind->count; ++i)
    if (length_of(kind->runs[i]) > already) longer[count++] = kind->runs[i];
  if (count == 0) return limit.us > 0 ? std::optional(std::max(limit, already)) : std::nullopt;
  // By rank, so that one length more or less moves a draw to its neighbour at most.
  const auto rank = static_cast<size_t>(static_cast<unsigned __int128>(chance) * count >> 64);
  std::nth_element(longer.begin(), longer.begin() + rank, longer.begin() + count);
  return length_of(longer[rank]);
}

}  // namespace fairlead

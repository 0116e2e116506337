// The rules that can be played, by name.
//
//   fifo                the first that waits blocks all behind it
//   easy                as fifo, and who is not in the first one's way may start (EASY backfill)
//   conservative        as fifo, and who is in nobody's way ahead of it may start
//   slurm-multifactor   Slurm's multifactor priority and backfill
//   kueue               Kueue's ClusterQueues in cohorts, its preemption
//   fairlead            ours: policy::plan by the organisation file
//
// And of papers, which know how long jobs run and lose nothing when they stop one:
//
//   srtf, srsf          shortest remaining time, or that times devices, first
//   tiresias            least attained service, in three queues
//
// Of Gavel's FIFO that knows how fast work runs where (make_gavel_fifo_perf) only a match with
// several forms of jobs makes sense. What each takes from where stands in its source.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "contest/arena.h"

namespace fairlead::contest {

struct RivalKind {
  std::string_view name, about;
  bool usual;  // played where nothing else is asked for
  std::unique_ptr<Rival> (*make)(const Match& match);
};
std::span<const RivalKind> rival_kinds();
const RivalKind* rival_kind(std::string_view name);  // null: there is none

std::unique_ptr<Rival> make_fifo(const Match& match);
std::unique_ptr<Rival> make_easy(const Match& match);
std::unique_ptr<Rival> make_conservative(const Match& match);
std::unique_ptr<Rival> make_slurm(const Match& match);
std::unique_ptr<Rival> make_kueue(const Match& match);
std::unique_ptr<Rival> make_fairlead(const Match& match);
std::unique_ptr<Rival> make_srtf(const Match& match);
std::unique_ptr<Rival> make_srsf(const Match& match);
std::unique_ptr<Rival> make_tiresias(const Match& match);
std::unique_ptr<Rival> make_gavel_fifo_perf(const Match& match);

// What it costs a job, in seconds, that the rule looks while it runs; nothing where it is empty.
using Overhead = std::function<int64_t(const Job&)>;
enum class PaperRule : uint8_t { srtf, srsf, tiresias };
std::unique_ptr<Rival> make_paper(const Match& match, PaperRule rule, Overhead overhead);

}  // namespace fairlead::contest

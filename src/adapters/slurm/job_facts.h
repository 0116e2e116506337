// From Slurm's own words about a job to the rest of a Job.
//
// A reader fills the plain members itself (names, times, numbers) and gives what needs reading
// here. One place then decides, for all three readers: the state, the label, what an array's record
// stands for, how many devices are asked for, and what is held on which node.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "adapters/slurm/words.h"
#include "model/job.h"

namespace fairlead::slurm {

// What a job holds on some nodes that are alike.
struct ShareText {
  std::string nodes;  // hostlist
  std::string gres;   // "gpu:h100:4(IDX:0-3)" on each
  int32_t cpus = 0;   // on each; 0: not stated
  int64_t memory_mb = 0;
};

struct JobTexts {
  JobWords state;
  std::string array_tasks;  // "2-9%3": of a record of waiting tasks
  std::string tres_requested, tres_allocated;
  std::string per_node, per_job, per_task, per_socket;  // "gres:gpu:h100:4"
  int32_t tasks_per_node = 0;
  std::vector<std::string> gres_detail;  // one for each of Job::nodes, in their order; or `shares`
  std::vector<int32_t> cpus_detail;      // likewise; empty where not stated
  std::vector<ShareText> shares;
};

// Fills state, requeued, label, array counts, request.devices and held of `job`.
// Requires: all other members are set; `start` as Slurm states it (of a waiting job: planned).
void finish_job(Job& job, const JobTexts& texts);

// "3:0" as the shell would show it: the status, or 128 + the signal.
int32_t exit_code_of(int32_t status, int32_t signal);

}  // namespace fairlead::slurm

#include "sim/sbatch_script.h"

#include <gtest/gtest.h>

namespace fairlead {
namespace {

TEST(SbatchScript, ReadsWhatSaysWhereItMayRun) {
  const auto job = read_sbatch_script("j.sbatch", R"(#!/bin/bash
#SBATCH -J llm --nodes=4 -p "a100,h100"   # a remark
#SBATCH --gpus-per-node h100:8
#SBATCH -t 1-0:0 --time-min=2:00:00
#SBATCH -A vision -q batch --switches=1@10:00
#SBATCH --mail-user ana@example.org -o out.txt
#SBATCH -x n[1-2]

srun train
#SBATCH --nodes=9
)");
  ASSERT_TRUE(job.has_value()) << job.error().message;
  EXPECT_EQ(job->name, "llm");
  EXPECT_EQ(job->partition, "a100,h100");
  EXPECT_EQ(job->account, "vision");
  EXPECT_EQ(job->qos, "batch");
  EXPECT_EQ(job->request.nodes_min, 4);
  EXPECT_EQ(job->request.devices.model, "h100");
  EXPECT_EQ(job->request.devices.per_node, 8);
  EXPECT_EQ(job->request.devices.total, 32);
  EXPECT_EQ(job->request.time_limit_s, 86400);
  EXPECT_EQ(job->request.time_min_s, 7200);
  EXPECT_EQ(job->request.switches, 1);
  EXPECT_EQ(job->request.nodes_excluded, "n[1-2]");
}

TEST(SbatchScript, OneNodeHasAllItsDevices) {
  const auto job = read_sbatch_script("j", "#SBATCH -G 4\n");
  ASSERT_TRUE(job.has_value());
  EXPECT_EQ(job->request.devices.total, 4);
}

TEST(SbatchScript, NamesTheLine) {
  const auto job = read_sbatch_script("j.sbatch", "#!/bin/sh\n#SBATCH --nodes=many\n");
  ASSERT_FALSE(job.has_value());
  EXPECT_EQ(job.error().code, "sbatch-bad");
  EXPECT_EQ(job.error().place.line, 2);
}

}  // namespace
}  // namespace fairlead

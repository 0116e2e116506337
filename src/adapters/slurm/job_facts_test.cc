#include "adapters/slurm/job_facts.h"

#include <gtest/gtest.h>

namespace fairlead::slurm {
namespace {

JobWords words_of(std::string_view word) {
  JobWords words;
  add_state_word(words, word);
  return words;
}

Job job_with(JobRequest request, std::string nodes = "") {
  Job job{.id = 4242, .eligible = {5}, .start = {7}, .end = {9}};
  job.request = std::move(request);
  job.nodes = std::move(nodes);
  return job;
}

struct DevicesRow {
  std::string_view name;
  JobRequest request;
  JobTexts texts;
  DeviceRequest want;
};

TEST(JobFacts, SaysHowManyDevicesAreAskedFor) {
  const DevicesRow rows[] = {
      {.name = "on each of two nodes",
       .request = {.nodes_min = 2, .nodes_max = 2},
       .texts = {.per_node = "gres:gpu:h100:4"},
       .want = {.model = "h100", .per_node = 4, .total = 2 * 4}},
      {.name = "for the whole job, on one node",
       .texts = {.per_job = "gres:gpu:8"},
       .want = {.per_node = 8, .total = 8}},
      {.name = "for the whole job that waits, which may yet be split",
       .texts = {.state = words_of("PENDING"), .per_job = "gres:gpu:8"},
       .want = {.total = 8}},
      {.name = "for the whole job that waits for one node",
       .request = {.nodes_max = 1},
       .texts = {.state = words_of("PENDING"), .per_job = "gres:gpu:8"},
       .want = {.per_node = 8, .total = 8}},
      {.name = "for the whole job, split as Slurm likes",
       .request = {.nodes_min = 2},
       .texts = {.per_job = "gres:gpu:8"},
       .want = {.total = 8}},
      {.name = "22.05's own sum is wrong for --gpus",
       .request = {.nodes_min = 2},
       .texts = {.tres_requested = "gres/gpu=1", .per_job = "gres:gpu:8"},
       .want = {.total = 8}},
      {.name = "for each of 8 tasks, 4 of them on a node",
       .request = {.nodes_min = 2, .tasks = 8},
       .texts = {.per_task = "gres/gpu:h100=1", .tasks_per_node = 4},
       .want = {.model = "h100", .per_node = 4, .per_task = 1, .total = 8}},
      {.name = "a share of a device is no device",
       .request = {.nodes_min = 1},
       .texts = {.tres_requested = "cpu=1,gres/shard=4", .per_node = "gres/shard:4"},
       .want = {.shares = 4}},
      {.name = "for each socket: only Slurm's sum knows",
       .request = {.nodes_min = 2},
       .texts = {.tres_requested = "cpu=2,gres/gpu=8", .per_socket = "gres:gpu:2"},
       .want = {.total = 8}},
      {.name = "none", .texts = {.tres_requested = "cpu=2"}, .want = {}},
      {.name = "on more nodes than fit a number",
       .request = {.nodes_min = 2147483647},
       .texts = {.per_node = "gres:gpu:8"},
       .want = {.per_node = 8, .total = 2147483647}},
  };
  for (const DevicesRow& row : rows) {
    SCOPED_TRACE(row.name);
    Job job = job_with(row.request);
    finish_job(job, row.texts);
    EXPECT_EQ(job.request.devices, row.want);
  }
}

struct HeldRow {
  std::string_view name;
  std::string_view state = "RUNNING";
  JobRequest request;
  std::string nodes = "n[1-2]";
  JobTexts texts;
  std::vector<NodeShare> want;
};

TEST(JobFacts, SaysWhatIsHeldWhere) {
  const HeldRow rows[] = {
      {.name = "indices follow the nodes' order",
       .texts = {.gres_detail = {"gpu:h100:2(IDX:0-1)", "gpu:h100:1(IDX:7)"}},
       .want = {{.node = "n1", .devices = {0, 1}, .device_count = 2},
                {.node = "n2", .devices = {7}, .device_count = 1}}},
      {.name = "CPUs for each node give the memory",
       .request = {.memory_per_cpu_mb = 1000},
       .texts = {.gres_detail = {"", ""}, .cpus_detail = {28, 4}},
       .want = {{.node = "n1", .cpus = 28, .memory_mb = 28'000},
                {.node = "n2", .cpus = 4, .memory_mb = 4'000}}},
      {.name = "one node holds the total",
       .nodes = "n1",
       .texts = {.tres_allocated = "cpu=8,mem=2G,gres/gpu=3"},
       .want = {{.node = "n1", .device_count = 3, .cpus = 8, .memory_mb = 2048}}},
      {.name = "a total over two nodes is not split by guess",
       .texts = {.tres_allocated = "cpu=8,mem=2G,gres/gpu=4"},
       .want = {{.node = "n1"}, {.node = "n2"}}},
      {.name = "but what was asked for on each node is there",
       .request = {.nodes_min = 2, .memory_per_node_mb = 500},
       .texts = {.tres_allocated = "gres/gpu=4", .per_node = "gres:gpu:2"},
       .want = {{.node = "n1", .device_count = 2, .memory_mb = 500},
                {.node = "n2", .device_count = 2, .memory_mb = 500}}},
      {.name = "while it ends, details of nodes that left match none",
       .state = "COMPLETING",
       .texts = {.gres_detail = {"gpu:1(IDX:0)", "gpu:1(IDX:1)", "gpu:1(IDX:2)"}},
       .want = {{.node = "n1"}, {.node = "n2"}}},
      {.name = "unless they are all alike",
       .state = "COMPLETING",
       .texts = {.gres_detail = {"gpu:1(IDX:0)", "gpu:1(IDX:0)", "gpu:1(IDX:0)"}},
       .want = {{.node = "n1", .devices = {0}, .device_count = 1},
                {.node = "n2", .devices = {0}, .device_count = 1}}},
      {.name = "the commands state groups of nodes",
       .texts =
           {.shares = {{.nodes = "n[1-2]", .gres = "gpu:1(IDX:3)", .cpus = 2, .memory_mb = 10}}},
       .want = {{.node = "n1", .devices = {3}, .device_count = 1, .cpus = 2, .memory_mb = 10},
                {.node = "n2", .devices = {3}, .device_count = 1, .cpus = 2, .memory_mb = 10}}},
      {.name = "suspended keeps what it holds",
       .state = "SUSPENDED",
       .nodes = "n1",
       .texts = {.gres_detail = {"gpu:1(IDX:0)"}},
       .want = {{.node = "n1", .devices = {0}, .device_count = 1}}},
      {.name = "ended holds nothing",
       .state = "COMPLETED",
       .texts = {.gres_detail = {"gpu:1(IDX:0)", "gpu:1(IDX:0)"}},
       .want = {}},
      {.name = "a node list that cannot be read",
       .nodes = "n[1-",
       .texts = {.gres_detail = {"gpu:1(IDX:0)"}},
       .want = {}},
  };
  for (const HeldRow& row : rows) {
    SCOPED_TRACE(row.name);
    Job job = job_with(row.request, row.nodes);
    JobTexts texts = row.texts;
    texts.state = words_of(row.state);
    finish_job(job, texts);
    EXPECT_EQ(job.held, row.want);
  }
}

TEST(JobFacts, LabelsAsPeopleDo) {
  Job plain{.id = 7}, task{.id = 8, .array = {.id = 7, .task = 0}},
      rest{.id = 7, .array = {.id = 7}}, het{.id = 9, .het_id = 7, .het_offset = 1};
  finish_job(plain, {});
  finish_job(task, {});
  finish_job(rest, {.array_tasks = "2-9%3"});
  finish_job(het, {});
  EXPECT_EQ(plain.label, "7");
  EXPECT_EQ(task.label, "7_0");
  EXPECT_EQ(rest.label, "7_[2-9%3]");
  EXPECT_EQ(rest.array.waiting_count, 8);
  EXPECT_EQ(rest.array.running_max, 3);
  EXPECT_EQ(het.label, "7+1");
  Job over{.id = 7, .array = {.id = 7}};
  finish_job(over, {});
  EXPECT_EQ(over.label, "7");
}

TEST(JobFacts, TimesOfAWaitingJobAreEstimates) {
  Job job = job_with({});
  job.reason = "BeginTime";
  finish_job(job, {.state = words_of("PENDING")});
  EXPECT_EQ(job.begin, Instant{5});
  EXPECT_EQ(job.start_planned, Instant{7});
  EXPECT_FALSE(job.start.known());
  EXPECT_FALSE(job.end.known());
  EXPECT_FALSE(job.requeued);
  Job again = job_with({});
  again.restarts = 1;
  finish_job(again, {.state = words_of("PENDING")});
  EXPECT_TRUE(again.requeued);
}

TEST(JobFacts, ExitCodesAreTheShells) {
  EXPECT_EQ(exit_code_of(3, 0), 3);
  EXPECT_EQ(exit_code_of(0, 9), 137);
}

}  // namespace
}  // namespace fairlead::slurm

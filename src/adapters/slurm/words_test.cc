#include "adapters/slurm/words.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace fairlead::slurm {
namespace {

struct HeldRow {
  std::string_view name;
  std::string_view text;
  GresHeld want;
};

TEST(Words, ReadsWhatIsHeldOnANode) {
  const HeldRow rows[] = {
      {"a range", "gpu:h100:4(IDX:0-3)", {{0, 1, 2, 3}, 4}},
      {"ranges and single ones", "gpu:h100:5(IDX:0-2,5,7)", {{0, 1, 2, 5, 7}, 5}},
      {"two models share one line of indices",
       "gpu:h100:2(IDX:0-1),gpu:a100:1(IDX:4)",
       {{0, 1, 4}, 3}},
      {"a count without indices", "gpu:2(CNT:2)", {{}, 2}},
      {"no model", "gpu:1(IDX:6)", {{6}, 1}},
      {"the later separator", "gres/gpu:h100:1(IDX:0)", {{0}, 1}},
      {"other GRES are not devices", "shard:4(IDX:0),nic:1(IDX:0)", {{}, 0}},
      {"a name that only begins alike", "gpumem:80(IDX:0)", {{}, 0}},
      {"nothing", "", {{}, 0}},
      {"said to be nothing", "(null)", {{}, 0}},
      {"cut indices are no indices", "gpu:h100:4(IDX:0-", {{}, 4}},
      {"fewer indices than devices", "gpu:h100:4(IDX:0-2)", {{}, 4}},
      {"an index that no node has", "gpu:h100:1(IDX:99999)", {{}, 1}},
      {"a count that overflows", "gpu:h100:99999999999999999999(IDX:0)", {{}, 0}},
      {"a range backwards", "gpu:h100:2(IDX:3-2)", {{}, 2}},
  };
  for (const HeldRow& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(parse_gres_held(row.text), row.want);
  }
}

struct RequestRow {
  std::string_view name;
  std::string_view text;
  GresRequest want;
};

TEST(Words, ReadsWhatIsAskedFor) {
  const RequestRow rows[] = {
      {"22.05 writes colons", "gres:gpu:h100:4", {"h100", 4}},
      {"later ones a slash", "gres/gpu:h100:4", {"h100", 4}},
      {"per task, with an equals sign", "cpu=4,gres/gpu=1", {"", 1}},
      {"a model and an equals sign", "gres/gpu:h100=2", {"h100", 2}},
      {"one is meant where none is said", "gres:gpu", {"", 1}},
      {"one of a model", "gres:gpu:h100", {"h100", 1}},
      {"a model with a dash and digits", "gpu:a100-sxm4-80gb:2", {"a100-sxm4-80gb", 2}},
      {"a slice of a device", "gres/gpu:1g.10gb:7", {"1g.10gb", 7}},
      {"two models have no one model", "gres:gpu:h100:2,gres:gpu:a100:1", {"", 3}},
      {"no devices", "cpu=4", {"", 0}},
      {"sums end at the largest number", "gpu:2147483647,gpu:2147483647", {"", 2147483647}},
  };
  for (const RequestRow& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(parse_gres_request(row.text), row.want);
  }
}

TEST(Words, ReadsTheDevicesOfANode) {
  EXPECT_EQ(parse_node_gres("gpu:h100:8(S:0-1),gpu:a100:2"),
            (std::vector<DeviceGroup>{{"h100", 8}, {"a100", 2}}));
  EXPECT_EQ(parse_node_gres("gpu:8"), (std::vector<DeviceGroup>{{"", 8}}));
  EXPECT_EQ(parse_node_gres("gpu:h100:no_consume:8(S:0,1),shard:32"),
            (std::vector<DeviceGroup>{{"h100", 8}}));
  EXPECT_TRUE(parse_node_gres("(null)").empty());
  EXPECT_TRUE(parse_node_gres("gpu:h100:0").empty());
}

struct TasksRow {
  std::string_view name;
  std::string_view text;
  TaskList want;
};

TEST(Words, CountsTheTasksThatWait) {
  const TasksRow rows[] = {
      {"a range and how many may run", "2-9%3", {.count = 8, .running_max = 3}},
      {"single ones and a step", "1,3,5-9:2", {.count = 5}},
      {"a step that does not reach the end", "0-10:4", {.count = 3}},
      {"one", "7", {.count = 1}},
      {"none", "", {}},
      {"shortened by Slurm", "1-3,5,...", {.count = 4, .cut = true}},
      {"as many as fit", "0-2147483647", {.count = 2147483647}},
      {"more than any array has", "0-99999999999", {}},
      {"a step of nothing", "1-9:0", {}},
  };
  for (const TasksRow& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(parse_tasks(row.text), row.want);
  }
}

TEST(Words, ReadsAmounts) {
  EXPECT_EQ(parse_tres("cpu=64,mem=62.50G,node=2,billing=64,gres/gpu=8,gres/gpu:h100=8"),
            (Amounts{{"cpu", 64},
                     {"mem", 64000},
                     {"node", 2},
                     {"billing", 64},
                     {"gres/gpu", 8},
                     {"gres/gpu:h100", 8}}));
  EXPECT_EQ(parse_tres("mem=1000M,mem"), (Amounts{{"mem", 1000}}));
  EXPECT_EQ(parse_tres("cpu=-1,node=,=3,x=99999999999999999999999"), (Amounts{}));
  EXPECT_EQ(parse_amount("2T", 'M'), 2 * 1024 * 1024);
  EXPECT_EQ(parse_amount("512K", 'M'), 0);
  EXPECT_EQ(parse_amount("1.5K", 0), 1536);
  EXPECT_EQ(parse_amount("9223372036854775807", 0),
            std::nullopt);  // at the edge of what a double can hold
  EXPECT_EQ(parse_amount("nan", 0), std::nullopt);
  EXPECT_EQ(parse_amount("1e9", 0), std::nullopt);
}

TEST(Words, ReadsSpansAndTimes) {
  EXPECT_EQ(parse_span_s("1-02:03:04"), 93784);
  EXPECT_EQ(parse_span_s("00:05:00"), 300);
  EXPECT_EQ(parse_span_s("05:00"), 300);
  EXPECT_EQ(parse_span_s("UNLIMITED"), -1);
  EXPECT_EQ(parse_span_s("Partition_Limit"), -1);
  EXPECT_EQ(parse_span_s("5"), std::nullopt);
  EXPECT_EQ(parse_span_s("99999999999-00:00:00"), std::nullopt);
  EXPECT_EQ(parse_time("2026-11-30T07:59:29"), instant_of_seconds(1796025569));
  for (const std::string_view text : {"Unknown", "None", "N/A", "", "2026-11-30T07:59",
                                      "2026-13-30T07:59:29", "-026-11-30T07:59:29"}) {
    EXPECT_FALSE(parse_time(text).known()) << text;
  }
}

struct StateRow {
  std::string_view name;
  std::vector<std::string_view> words;
  JobState want;
};

TEST(Words, DecidesTheStateOfAJob) {
  const StateRow rows[] = {
      {"a base state", {"RUNNING"}, JobState::running},
      {"over its end, nodes are being cleaned", {"COMPLETED", "COMPLETING"}, JobState::completing},
      {"the commands print the flag alone", {"COMPLETING"}, JobState::completing},
      {"to be requeued, and still on its nodes",
       {"PENDING", "REQUEUED", "COMPLETING"},
       JobState::completing},
      {"nodes still boot", {"CONFIGURING"}, JobState::running},
      {"stopped keeps its devices", {"RUNNING", "STOPPED"}, JobState::suspended},
      {"held after its run", {"REQUEUE_HOLD"}, JobState::pending},
      {"epilogs run before an expedited requeue", {"PENDING", "EXPEDITING"}, JobState::completing},
      {"a word of a later release", {"DANCING"}, JobState::unknown},
      {"a known base with such a word", {"RUNNING", "DANCING"}, JobState::running},
  };
  for (const StateRow& row : rows) {
    SCOPED_TRACE(row.name);
    JobWords words;
    for (const std::string_view word : row.words) add_state_word(words, word);
    EXPECT_EQ(state_of(words), row.want);
  }
}

TEST(Words, ReadsTheStateOfANode) {
  Node node;
  add_state_words(node, "MIXED+DRAIN+PLANNED");
  EXPECT_EQ(node.state, NodeState::mixed);
  EXPECT_TRUE(node.drain && node.planned && !node.not_responding);
  node = {};
  add_state_words(node, "IDLE*+MAINTENANCE+RESERVED");
  EXPECT_EQ(node.state, NodeState::idle);
  EXPECT_TRUE(node.not_responding && node.maintenance && node.reserved);
  node = {};
  add_state_words(node, "DOWN~+INVALID_REG+SOMETHING_NEW");
  EXPECT_EQ(node.state, NodeState::down);
  EXPECT_TRUE(node.powered_down && node.drain);
}

RC_GTEST_PROP(Words, AnyTextIsRead, (const std::string& text)) {
  const GresHeld held = parse_gres_held(text);
  RC_ASSERT(held.devices.empty() || static_cast<int64_t>(held.devices.size()) == held.count);
  parse_gres_request(text);
  parse_node_gres(text);
  RC_ASSERT(parse_tasks(text).count >= 0);
  for (const auto& [name, amount] : parse_tres(text)) RC_ASSERT(amount >= 0);
  parse_span_s(text);
  parse_time(text);
}

}  // namespace
}  // namespace fairlead::slurm

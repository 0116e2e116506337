#include "sim/packing.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <sstream>

#include "sim/go_random.h"
#include "sim/packing_score.h"

namespace fairlead {
namespace {

struct GoRow {
  int64_t seed;
  int64_t want_int63;
  int32_t want_of_16, want_of_1213, want_of_1000;
  std::vector<int32_t> want_shuffled, want_perm;
  uint64_t want_uint64;
};

// What a Go program prints of the same calls (go 1.26, math/rand).
TEST(GoRandom, DrawsAsGoDoes) {
  const GoRow rows[] = {
      {42,
       3440579354231278675,
       11,
       2,
       750,
       {7, 6, 3, 5, 1, 4, 2, 0},
       {3, 2, 5, 4, 0, 1},
       15826440160565561250U},
      {0,
       8717895732742165505,
       2,
       879,
       506,
       {5, 6, 0, 4, 3, 1, 7, 2},
       {3, 4, 0, 2, 1, 5},
       161231572858529631U},
      {-7,
       747107023976529931,
       0,
       1090,
       856,
       {0, 7, 1, 4, 6, 3, 5, 2},
       {3, 1, 0, 2, 5, 4},
       10390207659403516019U},
      {int64_t{1} << 40,
       5470237361722394362,
       0,
       668,
       73,
       {2, 3, 5, 0, 7, 1, 4, 6},
       {1, 0, 4, 2, 3, 5},
       7515196370854153018U},
  };
  for (const GoRow& row : rows) {
    SCOPED_TRACE(row.seed);
    GoRandom random(row.seed);
    EXPECT_EQ(random.int63(), row.want_int63);
    EXPECT_EQ(random.intn(16), row.want_of_16);
    EXPECT_EQ(random.intn(1213), row.want_of_1213);
    EXPECT_EQ(random.intn(1000), row.want_of_1000);
    std::vector<int32_t> values(8);
    std::iota(values.begin(), values.end(), 0);
    random.shuffle(values);
    EXPECT_EQ(values, row.want_shuffled);
    EXPECT_EQ(random.perm(6), row.want_perm);
    EXPECT_EQ(random.uint64(), row.want_uint64);
  }
}

// --- scores, by hand

PackRoom room_of(std::vector<int32_t> left, int32_t cpu_milli = 64'000) {
  PackRoom room{.cpu_milli = cpu_milli, .devices = static_cast<int32_t>(left.size())};
  std::ranges::copy(left, room.left.begin());
  return room;
}

struct ScoreRow {
  std::string_view name;
  PackPolicy policy;
  std::vector<int32_t> left;
  PackShape shape;
  int32_t want = 0;
  int32_t want_device = -1;
};

TEST(Packing, Scores) {
  const PackShape share{.cpu_milli = 8'000, .devices = 1, .milli = 300};
  const PackShape two{.cpu_milli = 8'000, .devices = 2, .milli = 1000};
  const ScoreRow rows[] = {
      {"an empty node is the last to be packed", PackPolicy::gpu_packing, {1000, 1000}, two, 31},
      {"free devices of a node in use", PackPolicy::gpu_packing, {0, 1000, 1000}, two, 48},
      {"a share beside a share", PackPolicy::gpu_packing, {1000, 600, 400}, share, 96, 2},
      {"a share on a free device of a node in use",
       PackPolicy::gpu_packing,
       {200, 1000},
       share,
       49,
       1},
      {"best fit: half of what is left of CPU and of devices",
       PackPolicy::best_fit,
       {1000, 1000, 1000, 1000},
       two,
       65},  // 56/128/2 + 2/8/2 = 0.34
      {"dot product: 100 (1 - (64/128 * 8/128 + 4/8 * 2/8) / 2)",
       PackPolicy::dot_product,
       {1000, 1000, 1000, 1000},
       two,
       92},
      {"clustering: an idle node, half as large as the largest",
       PackPolicy::gpu_clustering,
       {1000, 1000, 1000, 1000},
       two,
       37},
  };
  for (const ScoreRow& row : rows) {
    SCOPED_TRACE(row.name);
    const PackScore got = score_of({.policy = row.policy}, room_of(row.left), row.shape, 0, {});
    EXPECT_EQ(got.score, row.want);
    EXPECT_EQ(got.device, row.want_device);
  }
}

TEST(Packing, FragmentsAreWhatTypicalPodsCannotUse) {
  const TypicalShape typical[] = {
      {.shape = {.cpu_milli = 4'000, .devices = 1, .milli = 500}, .share = 0.5},
      {.shape = {.cpu_milli = 4'000, .devices = 2, .milli = 1000}, .share = 0.25},
      {.shape = {.cpu_milli = 4'000}, .share = 0.125},
      {.shape = {.cpu_milli = 4'000, .devices = 1, .milli = 1000, .models = 0b10}, .share = 0.125},
  };
  // 300 + 1000 idle. The half cannot use the 300; the pair, the CPU-only pod and the wrong model
  // can use nothing.
  EXPECT_DOUBLE_EQ(fragmentation(room_of({300, 1000}), typical), 0.5 * 300 + 0.5 * 1300);
  EXPECT_DOUBLE_EQ(fragmentation(room_of({300, 1000}, 3'999), typical), 1300);
  EXPECT_DOUBLE_EQ(fragmentation(room_of({1000, 1000}), typical), 0.25 * 2000);
}

// --- small traces

constexpr std::string_view kNodes =
    "sn,cpu_milli,memory_mib,gpu,model\n"
    "a,64000,100000,2,G2\n"
    "b,64000,100000,1,T4\n"
    "c,64000,100000,0,\n";
constexpr std::string_view kPods =
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n"
    "p2,1000,1000,1,1000,G2\n"
    "p1,1000,1000,1,500,\n"
    "p3,1000,200000,1,1000,\n";

PackTrace trace_of(std::string_view pods, std::string_view nodes = kNodes) {
  auto trace = read_pack_trace({"pods.csv", pods}, {"nodes.csv", nodes});
  EXPECT_TRUE(trace.has_value());
  return *trace;
}

TEST(Packing, ReadsTablesAndSaysWhatIsWrong) {
  const PackTrace trace = trace_of(kPods);
  EXPECT_EQ(trace.nodes.size(), 2u);
  ASSERT_EQ(trace.pods.size(), 3u);
  EXPECT_EQ(trace.pods[0].name, "p1");
  struct Row {
    std::string_view pods, nodes, want;
  };
  const Row rows[] = {
      {"name,cpu_milli\n", kNodes, "pods.csv:1:1: error: no column 'memory_mib'"},
      {kPods.substr(0, kPods.find('\n') + 1), kNodes, "pods.csv: error: no pod in the table"},
      {"name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,1,1,2,500\n", kNodes,
       "pods.csv:2: error: only a part of a single device can be asked for"},
      {"name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,1,-1,2,500\n", kNodes,
       "pods.csv:2: error: a request is no number"},
      {kPods, "sn,cpu_milli,memory_mib,gpu,model\na,1,1,17,x\n",
       "nodes.csv:2: error: '17' is no number of devices up to 16"},
      {kPods, "", "nodes.csv:1: error: no column 'sn'"},
  };
  for (const Row& row : rows) {
    const auto got = read_pack_trace({"pods.csv", row.pods}, {"nodes.csv", row.nodes});
    ASSERT_FALSE(got.has_value());
    EXPECT_NE(to_text(got.error()).find(row.want.substr(row.want.find("error"))), std::string::npos)
        << to_text(got.error());
  }
}

TEST(Packing, EveryPolicyPlacesWhatFits) {
  const PackTrace trace = trace_of(kPods);
  const Arrivals arrivals{.pods = {0, 1, 2}, .rank = {0, 1}};
  for (const PackPolicy policy :
       {PackPolicy::random, PackPolicy::dot_product, PackPolicy::gpu_clustering,
        PackPolicy::gpu_packing, PackPolicy::best_fit, PackPolicy::fgd, PackPolicy::tightest}) {
    const PackResult result = pack(trace, arrivals, {.policy = policy}, 1);
    EXPECT_EQ(result.arrived, 3);
    EXPECT_EQ(result.lost, 1);                   // p3 wants more memory than any node has
    EXPECT_DOUBLE_EQ(result.allocated[50], 50);  // 1.5 of 3
  }
}

// Three models, of which one is asked for by name; the same pods over and over.
TEST(Packing, ARehearsalChoosesOneRuleForATrace) {
  std::string nodes = "sn,cpu_milli,memory_mib,gpu,model\n";
  std::string pods = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n";
  for (int i = 0; i < 12; ++i) {
    nodes += fmt::format("n{},32000,100000,{},{}\n", i, i % 2 == 0 ? 8 : 2, i % 3 == 0 ? "A" : "B");
    pods += fmt::format("p{},{},1000,1,{},{}\n", i, 200 * i, 100 + 75 * i, i % 4 == 0 ? "A" : "");
  }
  const PackTrace trace = trace_of(pods, nodes);
  const PackRule rule = rehearsed_rule(trace);
  EXPECT_EQ(rule.policy, PackPolicy::fgd);
  EXPECT_EQ(rule, rehearsed_rule(trace));
  const Arrivals arrivals = arrivals_of(trace, 1);
  const PackResult result = pack(trace, arrivals, rule);
  EXPECT_EQ(result.arrived, static_cast<int64_t>(arrivals.pods.size()));
  EXPECT_GT(result.allocated[100], 60);
  EXPECT_EQ(to_text(PackRule{.policy = PackPolicy::fgd, .fullness_milli = 100, .steps = 25}),
            "fgd, fullness 100, steps 25");
}

// --- the published experiment, where its data is at hand

std::string data_dir() {
  const char* source = std::getenv("FAIRLEAD_SOURCE_DIR");
  const char* data = std::getenv("FAIRLEAD_DATA");
  return (data == nullptr ? std::string(source == nullptr ? "." : source) + "/../shared/data"
                          : std::string(data)) +
         "/openb";
}

std::string unpacked(const std::string& path) {
  std::string out;
  FILE* pipe = popen(fmt::format("gzip -dc '{}' 2>/dev/null", path).c_str(), "r");
  char buffer[1 << 16];
  for (size_t n; pipe != nullptr && (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    out.append(buffer, n);
  if (pipe != nullptr) pclose(pipe);
  return out;
}

std::optional<PackTrace> openb(std::string_view name) {
  std::ifstream nodes(data_dir() + "/openb_node_list_gpu_node.csv");
  std::stringstream text;
  text << nodes.rdbuf();
  const std::string pods = unpacked(fmt::format("{}/openb_pod_list_{}.csv.gz", data_dir(), name));
  if (pods.empty()) return std::nullopt;
  return trace_of(pods, text.str());
}

// The line of a seed in a file of orders: "42 255 1685 …".
std::vector<int32_t> line_of(const std::string& text, int64_t seed) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    int64_t first = 0;
    words >> first;
    if (first != seed) continue;
    std::vector<int32_t> values;
    for (int32_t value = 0; words >> value;) values.push_back(value);
    return values;
  }
  return {};
}

TEST(Openb, ArrivalsAreThoseOfTheExperiment) {
  for (const char* name : {"default", "multigpu30", "multigpu50"}) {
    SCOPED_TRACE(name);
    const auto trace = openb(name);
    if (!trace)
      GTEST_SKIP() << "no public data in " << data_dir() << " (FAIRLEAD_DATA names another folder)";
    const std::string stem = fmt::format("{}/orders/openb_pod_list_{}", data_dir(), name);
    const std::string orders = unpacked(stem + ".orders.txt.gz");
    const std::string ranks = unpacked(stem + ".nodeperm.txt.gz");
    for (int64_t seed = 42; seed <= 51; ++seed) {
      const Arrivals got = arrivals_of(*trace, seed);
      ASSERT_EQ(got.pods, line_of(orders, seed)) << "seed " << seed;
      ASSERT_EQ(got.rank, line_of(ranks, seed)) << "seed " << seed;
    }
  }
}

struct PublishedRow {
  std::string_view trace;
  PackPolicy policy;
  int64_t seed;
  double at_100, at_130;  // allocated, in %; analysis_allo_discrete.csv
};

// analysis_frag_discrete.csv, seed 42.
TEST(Openb, PublishedFragmentationComesOut) {
  const auto trace = openb("default");
  if (!trace)
    GTEST_SKIP() << "no public data in " << data_dir() << " (FAIRLEAD_DATA names another folder)";
  const PackResult got = pack(*trace, arrivals_of(*trace, 42), {.policy = PackPolicy::fgd});
  EXPECT_NEAR(got.fragmented[10], 12.86, 0.01);
  EXPECT_NEAR(got.fragmented[50], 8.99, 0.01);
  EXPECT_NEAR(got.fragmented[90], 4.97, 0.01);
  EXPECT_NEAR(got.fragmented[130], 4.69, 0.01);
}

TEST(Openb, PublishedFiguresComeOutToTheLastDigit) {
  const PublishedRow rows[] = {
      {"default", PackPolicy::fgd, 42, 95.14, 95.29},
      {"default", PackPolicy::fgd, 51, 95.28, 95.43},
      {"gpuspec33", PackPolicy::fgd, 47, 87.76, 94.53},
      {"gpushare100", PackPolicy::fgd, 45, 86.77, 87.0},
      {"default", PackPolicy::dot_product, 43, 90.56, 90.84},
      {"default", PackPolicy::gpu_clustering, 44, 91.68, 91.88},
      {"multigpu50", PackPolicy::gpu_packing, 46, 96.09, 96.21},
      {"cpu250", PackPolicy::best_fit, 50, 90.94, 91.21},
  };
  for (const PublishedRow& row : rows) {
    SCOPED_TRACE(
        fmt::format("{} seed {} policy {}", row.trace, row.seed, static_cast<int>(row.policy)));
    const auto trace = openb(row.trace);
    if (!trace)
      GTEST_SKIP() << "no public data in " << data_dir() << " (FAIRLEAD_DATA names another folder)";
    const PackResult got = pack(*trace, arrivals_of(*trace, row.seed), {.policy = row.policy});
    EXPECT_NEAR(got.allocated[100], row.at_100, 0.005 + 1e-9);
    EXPECT_NEAR(got.allocated[130], row.at_130, 0.005 + 1e-9);
  }
}

}  // namespace
}  // namespace fairlead

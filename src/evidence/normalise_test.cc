#include "evidence/normalise.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

namespace fairlead::evidence {
namespace {

constexpr Instant kNow = instant_of_seconds(1'796'025'600);

NodeDirectory two_nodes() {
  NodeDirectory nodes;
  nodes.add({.name = "n1", .devices = {{.model = "h100", .count = 8}}});
  nodes.add({.name = "n2",
             .hostname = "gpu-two.example.org",
             .devices = {{.model = "a100", .count = 4}}});
  nodes.add({.name = "login"});
  return nodes;
}

// Only what is reported: "n1/0 -5s util 970000 mem 512".
std::string show(const DeviceSample& s) {
  std::string text = fmt::format("{}/{} {}s", s.node, s.index, whole_seconds(s.at - kNow));
  const std::pair<const char*, int64_t> fields[] = {
      {"util", s.utilisation_ppm},     {"engine", s.engine_active_ppm}, {"sm", s.sm_active_ppm},
      {"tensor", s.tensor_active_ppm}, {"memory", s.memory_active_ppm}, {"used", s.memory_used_mib},
      {"total", s.memory_total_mib},   {"power", s.power_mw},           {"clock", s.clock_mhz},
      {"temp", s.temperature_c},       {"fault", s.fault_code}};
  for (const auto& [name, value] : fields) {
    if (value >= 0) text += fmt::format(" {} {}", name, value);
  }
  if (!s.uuid.empty()) text += " " + s.uuid;
  return text + "\n";
}

// Takes a page in the text format, with times in seconds before now (negative) behind each value.
Normalised normalise(std::string_view page, const NodeDirectory& nodes,
                     std::string_view page_host = {}) {
  Normaliser normaliser(nodes, kNow);
  const auto read = read_exposition(page, [&](const Point& point) {
    const auto series = normaliser.open(point.metric, point.labels, page_host);
    const Duration ago{point.at ? point.at->us * 1000 : 0};
    if (series) normaliser.add(*series, kNow + ago, point.value);
  });
  EXPECT_TRUE(read || page.empty());
  EXPECT_EQ(read ? read->bad_lines : 0, 0);
  return normaliser.finish();
}

struct Row {
  std::string_view name, page;
  std::string_view want = "", unmatched = "", dropped = "";
  std::string_view page_host = "";
};

const Row kRows[] = {
    {.name = "dcgm-exporter's units",
     .page = R"(DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-a",Hostname="n1"} 97
DCGM_FI_PROF_GR_ENGINE_ACTIVE{gpu="0",UUID="GPU-a",Hostname="n1"} 0.5
DCGM_FI_PROF_SM_ACTIVE{gpu="0",UUID="GPU-a",Hostname="n1"} 0.25
DCGM_FI_PROF_PIPE_TENSOR_ACTIVE{gpu="0",UUID="GPU-a",Hostname="n1"} 0.125
DCGM_FI_PROF_DRAM_ACTIVE{gpu="0",UUID="GPU-a",Hostname="n1"} 0.1
DCGM_FI_DEV_MEM_COPY_UTIL{gpu="0",UUID="GPU-a",Hostname="n1"} 44
DCGM_FI_DEV_FB_USED{gpu="0",UUID="GPU-a",Hostname="n1"} 60000
DCGM_FI_DEV_FB_FREE{gpu="0",UUID="GPU-a",Hostname="n1"} 20000
DCGM_FI_DEV_FB_RESERVED{gpu="0",UUID="GPU-a",Hostname="n1"} 1559
DCGM_FI_DEV_POWER_USAGE{gpu="0",UUID="GPU-a",Hostname="n1"} 612.345
DCGM_FI_DEV_SM_CLOCK{gpu="0",UUID="GPU-a",Hostname="n1"} 1980
DCGM_FI_DEV_GPU_TEMP{gpu="0",UUID="GPU-a",Hostname="n1"} 61
DCGM_FI_DEV_XID_ERRORS{gpu="0",UUID="GPU-a",Hostname="n1"} 0
DCGM_FI_DEV_MEM_CLOCK{gpu="0",UUID="GPU-a",Hostname="n1"} 2619)",
     .want = "n1/0 0s util 970000 engine 500000 sm 250000 tensor 125000 memory 100000 used 60000 "
             "total 81559 power 612345 clock 1980 temp 61 fault 0 GPU-a\n"},
    {.name = "the label is hostname since 2026, and the domain does not matter",
     .page = R"(DCGM_FI_DEV_GPU_UTIL{gpu="1",uuid="GPU-b",hostname="N1.cluster.example"} 3 -5)",
     .want = "n1/1 -5s util 30000 GPU-b\n"},
    {.name = "a node may be met under its host name",
     .page = R"(DCGM_FI_DEV_GPU_UTIL{gpu="0",Hostname="gpu-two"} 0)",
     .want = "n2/0 0s util 0\n"},
    {.name = "the address that was scraped is the last resort",
     .page =
         R"(DCGM_FI_DEV_GPU_UTIL{gpu="2",Hostname="dcgm-exporter-x7k2p",instance="n1:9400"} 10)",
     .want = "n1/2 0s util 100000\n"},
    {.name = "the host whose page it is",
     .page = R"(DCGM_FI_DEV_GPU_UTIL{gpu="2"} 10)",
     .want = "n1/2 0s util 100000\n",
     .page_host = "n1"},
    {.name = "AMD in lower case",
     .page = R"(gpu_gfx_activity{gpu_id="3",hostname="n1",gpu_uuid="c-1"} 88
gpu_umc_activity{gpu_id="3",hostname="n1",gpu_uuid="c-1"} 20
gpu_used_vram{gpu_id="3",hostname="n1",gpu_uuid="c-1"} 1000
gpu_total_vram{gpu_id="3",hostname="n1",gpu_uuid="c-1"} 196592
gpu_package_power{gpu_id="3",hostname="n1",gpu_uuid="c-1"} 543
gpu_power_usage{gpu_id="3",hostname="n1",gpu_uuid="c-1"} 500
gpu_clock{gpu_id="3",hostname="n1",gpu_uuid="c-1",clock_type="GPU_CLOCK_TYPE_MEMORY",clock_index="8"} 1292
gpu_clock{gpu_id="3",hostname="n1",gpu_uuid="c-1",clock_type="GPU_CLOCK_TYPE_SYSTEM",clock_index="0"} 1533
gpu_clock{gpu_id="3",hostname="n1",gpu_uuid="c-1",clock_type="GPU_CLOCK_TYPE_SYSTEM",clock_index="1"} 1601)",
     .want =
         "n1/3 0s util 880000 memory 200000 used 1000 total 196592 power 543000 clock 1601 c-1\n"},
    {.name = "AMD in upper case and with a prefix",
     .page = "GPU_GFX_ACTIVITY{GPU_ID=\"3\",HOSTNAME=\"n1\"} "
             "88\namd_gpu_used_vram{GPU_ID=\"3\",HOSTNAME=\"n1\"} 7",
     .want = "n1/3 0s util 880000 used 7\n"},
    {.name = "nvidia-smi's table names the number apart",
     .page = R"(nvidia_smi_utilization_gpu_ratio{uuid="abc",instance="n1:9835"} 0.5
nvidia_smi_memory_used_bytes{uuid="abc",instance="n1:9835"} 1.073741824e+09
nvidia_smi_power_draw_watts{uuid="abc",instance="n1:9835"} 7.07
nvidia_smi_clocks_current_sm_clock_hz{uuid="abc",instance="n1:9835"} 6e+06
nvidia_smi_index{uuid="abc",instance="n1:9835"} 5)",
     .want = "n1/5 0s util 500000 used 1024 power 7070 clock 6 abc\n"},
    {.name = "Intel's tiles are slices of a card, told by UUID",
     .page = R"(xpum_engine_ratio{uuid="u1",node="n1",sub_dev="0"} 0.25
xpum_engine_ratio{uuid="u1",node="n1",sub_dev="1"} 0.75
xpum_power_watts{uuid="u1",node="n1"} 300)",
     .unmatched = "n1/-1 0s engine 750000 power 300000 u1\n"},
    {.name = "MIG: the busiest instance, the sum of memory, and the whole where it is said",
     .page =
         R"(DCGM_FI_PROF_GR_ENGINE_ACTIVE{gpu="0",UUID="GPU-a",GPU_I_ID="1",GPU_I_PROFILE="3g.40gb",Hostname="n1"} 0.1
DCGM_FI_PROF_GR_ENGINE_ACTIVE{gpu="0",UUID="GPU-a",GPU_I_ID="2",GPU_I_PROFILE="3g.40gb",Hostname="n1"} 0.9
DCGM_FI_DEV_FB_USED{gpu="0",UUID="GPU-a",GPU_I_ID="1",Hostname="n1"} 100
DCGM_FI_DEV_FB_USED{gpu="0",UUID="GPU-a",GPU_I_ID="2",Hostname="n1"} 200
DCGM_FI_DEV_POWER_USAGE{gpu="0",UUID="GPU-a",GPU_I_ID="1",Hostname="n1"} 50
DCGM_FI_DEV_POWER_USAGE{gpu="0",UUID="GPU-a",Hostname="n1"} 70)",
     .want = "n1/0 0s engine 900000 used 300 power 70000 GPU-a\n"},
    {.name = "one series per job of a shared device counts once",
     .page = R"(DCGM_FI_DEV_FB_USED{gpu="0",UUID="GPU-a",Hostname="n1",hpc_job="17"} 100
DCGM_FI_DEV_FB_USED{gpu="0",UUID="GPU-a",Hostname="n1",hpc_job="18"} 100
DCGM_FI_DEV_FB_USED{gpu="0",UUID="GPU-a",GPU_I_ID="1",Hostname="n1",hpc_job="18"} 70)",
     .want = "n1/0 0s used 100 GPU-a\n"},
    {.name = "what is none is left out and counted, never zero",
     .page = R"(DCGM_FI_DEV_GPU_UTIL{gpu="0",Hostname="n1"} NaN
DCGM_FI_PROF_SM_ACTIVE{gpu="0",Hostname="n1"} -1
DCGM_FI_DEV_FB_USED{gpu="0",Hostname="n1"} 9223372036854775794
DCGM_FI_DEV_XID_ERRORS{gpu="0",Hostname="n1"} 2147483632
DCGM_FI_PROF_GR_ENGINE_ACTIVE{gpu="0",Hostname="n1"} 140737488355328
DCGM_FI_DEV_POWER_USAGE{gpu="0",Hostname="n1"} 1e9
DCGM_FI_DEV_GPU_TEMP{gpu="0",Hostname="n1"} +Inf
DCGM_FI_DEV_SM_CLOCK{gpu="0",Hostname="n1"} 345)",
     .want = "n1/0 0s clock 345\n",
     .dropped = "1 values not a number (n1 gpu 0), 1 values negative (n1 gpu 0), 4 values marked "
                "as not available (n1 gpu 0), 1 values more than is possible (n1 gpu 0)"},
    {.name = "a little above the whole is the whole",
     .page = "DCGM_FI_PROF_SM_ACTIVE{gpu=\"0\",Hostname=\"n1\"} "
             "1.004\nDCGM_FI_DEV_GPU_UTIL{gpu=\"0\",Hostname=\"n1\"} 250",
     .want = "n1/0 0s sm 1000000\n",
     .dropped = "1 values more than is possible (n1 gpu 0)"},
    {.name = "a clock that runs ahead is believed for five minutes",
     .page = "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\",Hostname=\"n1\"} 1 "
             "300\nDCGM_FI_DEV_GPU_UTIL{gpu=\"1\",Hostname=\"n1\"} 1 301",
     .want = "n1/0 300s util 10000\n",
     .dropped = "1 values from the future (n1 gpu 1)"},
    {.name = "looks stand in the order of time",
     .page = "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\",Hostname=\"n1\"} 2 "
             "-10\nDCGM_FI_DEV_GPU_UTIL{gpu=\"0\",Hostname=\"n1\"} 1 "
             "-20\nDCGM_FI_DEV_FB_USED{gpu=\"0\",Hostname=\"n1\"} 5 -10",
     .want = "n1/0 -20s util 10000\nn1/0 -10s util 20000 used 5\n"},
    {.name = "two exporters: the newer look, and one contradiction",
     .page = R"(DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-a",Hostname="n1",job="old"} 90 -20
DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-a",Hostname="n1",job="new"} 5 -10)",
     .want = "n1/0 -10s util 50000 GPU-a\n",
     .dropped = "1 values described better by another exporter (n1 gpu 0), 1 contradictions "
                "between exporters of one device"},
    {.name = "two exporters that agree, the second fills in what the first does not say",
     .page = R"(DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-a",Hostname="n1",job="dcgm"} 90 -10
nvidia_smi_utilization_gpu_ratio{uuid="a",instance="n1:9835",job="smi"} 0.89 -15
nvidia_smi_power_draw_watts{uuid="a",instance="n1:9835",job="smi"} 400 -15
nvidia_smi_power_draw_watts{uuid="a",instance="n1:9835",job="smi"} 100 -5)",
     .want = "n1/0 -10s util 900000 power 400000 GPU-a\n",
     .dropped = "1 values described better by another exporter (n1 gpu 0)"},
    {.name = "one that only knows the power is not the better one",
     .page = R"(DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-a",Hostname="n1",job="dcgm"} 90 -10
nvidia_smi_power_draw_watts{uuid="a",instance="n1:9835",job="smi"} 100 -5)",
     .want = "n1/0 -10s util 900000 GPU-a\n"},
    {.name = "one device under two hosts is told by its UUID",
     .page = R"(DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-a",Hostname="n1",job="a"} 90 -10
DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-a",Hostname="10.0.0.7",job="b"} 91 -5)",
     .want = "n1/0 -5s util 910000 GPU-a\n",
     .dropped = "1 values described better by another exporter (n1 gpu 0)"},
    {.name = "a host that nobody knows, and a device that the node has not",
     .page = "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\",Hostname=\"ghost.example\"} "
             "1\nDCGM_FI_DEV_GPU_UTIL{gpu=\"8\",Hostname=\"n1\"} "
             "1\nDCGM_FI_DEV_GPU_UTIL{gpu=\"0\",Hostname=\"login\"} 1",
     .unmatched = "ghost/0 0s util 10000\nlogin/0 0s util 10000\nn1/8 0s util 10000\n"},
    {.name = "no host, no device, not ours",
     .page = "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\"} 1\nDCGM_FI_DEV_GPU_UTIL{Hostname=\"n1\",gpu=\"x\"} "
             "1\nup{instance=\"n1:9400\"} 1",
     .dropped = "1 values naming no host (? gpu 0), 1 values naming no device (n1)"},
    {.name = "free memory alone says nothing",
     .page = "DCGM_FI_DEV_FB_FREE{gpu=\"0\",Hostname=\"n1\"} 80000"},
    {.name = "nothing", .page = ""},
};

std::string show_all(const std::vector<DeviceSample>& samples) {
  std::string text;
  for (const DeviceSample& sample : samples) text += show(sample);
  return text;
}

TEST(Normaliser, MakesSamplesOfWhatExportersSay) {
  const NodeDirectory nodes = two_nodes();
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.name);
    const Normalised result = normalise(row.page, nodes, row.page_host);
    EXPECT_EQ(show_all(result.samples), row.want);
    EXPECT_EQ(show_all(result.unmatched), row.unmatched);
    EXPECT_EQ(result.dropped.to_text(), row.dropped);
  }
}

TEST(Normaliser, KnowsEveryHostWhereNoNodesAreGiven) {
  const NodeDirectory none;
  EXPECT_EQ(
      show_all(
          normalise("DCGM_FI_DEV_GPU_UTIL{gpu=\"0\",Hostname=\"ghost.example\"} 1", none).samples),
      "ghost/0 0s util 10000\n");
}

TEST(Normaliser, TheOrderOfTheSeriesDoesNotMatter) {
  const NodeDirectory nodes = two_nodes();
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.name);
    std::vector<std::string> lines;
    for (std::string_view rest = row.page; !rest.empty();) {
      const size_t end = rest.find('\n');
      lines.emplace_back(rest.substr(0, end));
      rest = end == rest.npos ? std::string_view{} : rest.substr(end + 1);
    }
    std::ranges::reverse(lines);
    std::string page;
    for (const std::string& line : lines) page += line + "\n";
    const Normalised result = normalise(page, nodes, row.page_host);
    EXPECT_EQ(show_all(result.samples), row.want);
    EXPECT_EQ(show_all(result.unmatched), row.unmatched);
    EXPECT_EQ(result.dropped.to_text(), row.dropped);
  }
}

TEST(Host, IsFreedOfWhatSurroundsIt) {
  EXPECT_EQ(bare_host("n1:9400"), "n1");
  EXPECT_EQ(bare_host("http://n1.example:9400/metrics"), "n1.example");
  EXPECT_EQ(bare_host("10.0.0.7:9400"), "10.0.0.7");
  EXPECT_EQ(bare_host("[fe80::1]:9400"), "fe80::1");
  EXPECT_EQ(bare_host("fe80::1"), "fe80::1");
  EXPECT_EQ(bare_host("["), "");
}

}  // namespace
}  // namespace fairlead::evidence

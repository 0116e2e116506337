#include "evidence/normalise_metrics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "base/check.h"

namespace fairlead::evidence {
namespace {

constexpr double kPercent = 10'000;  // to ppm
constexpr double kRatio = 1'000'000;
constexpr double kWatt = 1'000;            // to mW
constexpr double kByte = 1.0 / (1 << 20);  // to MiB
constexpr double kHertz = 1e-6;            // to MHz

constexpr Metric kMetrics[] = {
    // NVIDIA dcgm-exporter. PROF fields are ratios, DEV fields percent, memory in MiB.
    {"dcgm_fi_dev_gpu_util", Field::utilisation, kPercent},
    {"dcgm_fi_prof_gr_engine_active", Field::engine_active, kRatio},
    {"dcgm_fi_prof_sm_active", Field::sm_active, kRatio},
    {"dcgm_fi_prof_pipe_tensor_active", Field::tensor_active, kRatio},
    {"dcgm_fi_prof_dram_active", Field::memory_active, kRatio},
    {"dcgm_fi_dev_mem_copy_util", Field::memory_active, kPercent, 1},
    {"dcgm_fi_dev_fb_used", Field::memory_used, 1},
    {"dcgm_fi_dev_fb_free", Field::memory_free, 1},
    {"dcgm_fi_dev_fb_reserved", Field::memory_kept, 1},
    {"dcgm_fi_dev_fb_total", Field::memory_total, 1},
    {"dcgm_fi_dev_power_usage", Field::power, kWatt},
    {"dcgm_fi_dev_sm_clock", Field::clock, 1},
    {"dcgm_fi_dev_gpu_temp", Field::temperature, 1},
    {"dcgm_fi_dev_xid_errors", Field::fault_code, 1},
    // AMD device-metrics-exporter. Percent and watts; its MB are counted in 1,048,576 bytes.
    {"gpu_gfx_activity", Field::utilisation, kPercent},
    {"gpu_umc_activity", Field::memory_active, kPercent},
    {"gpu_used_vram", Field::memory_used, 1},
    {"gpu_total_vram", Field::memory_total, 1},
    {"gpu_package_power", Field::power, kWatt},
    {"gpu_average_package_power", Field::power, kWatt, 1},
    {"gpu_power_usage", Field::power, kWatt, 2},
    {"gpu_clock", Field::clock, 1, 0, "clock_type", "GPU_CLOCK_TYPE_SYSTEM"},
    {"gpu_junction_temperature", Field::temperature, 1},
    {"gpu_edge_temperature", Field::temperature, 1, 1},
    // nvidia_gpu_exporter: nvidia-smi's own table, by UUID alone.
    {"nvidia_smi_index", Field::device_index, 1},
    {"nvidia_smi_utilization_gpu_ratio", Field::utilisation, kRatio},
    {"nvidia_smi_utilization_memory_ratio", Field::memory_active, kRatio, 1},
    {"nvidia_smi_memory_used_bytes", Field::memory_used, kByte},
    {"nvidia_smi_memory_total_bytes", Field::memory_total, kByte},
    {"nvidia_smi_power_draw_watts", Field::power, kWatt},
    {"nvidia_smi_clocks_current_sm_clock_hz", Field::clock, kHertz},
    {"nvidia_smi_temperature_gpu", Field::temperature, 1},
    // nvidia_gpu_prometheus_exporter: NVML, by minor number and UUID.
    {"nvidia_gpu_duty_cycle", Field::utilisation, kPercent},
    {"nvidia_gpu_memory_used_bytes", Field::memory_used, kByte},
    {"nvidia_gpu_memory_total_bytes", Field::memory_total, kByte},
    {"nvidia_gpu_power_usage_milliwatts", Field::power, 1},
    {"nvidia_gpu_temperature_celsius", Field::temperature, 1},
    // Intel XPU Manager: ratios, by UUID; a tile of a card is its slice.
    {"xpum_engine_ratio", Field::engine_active, kRatio},
    {"xpum_memory_used_bytes", Field::memory_used, kByte},
    {"xpum_power_watts", Field::power, kWatt},
};

// Bounds are generous: they catch nonsense, not hot cards.
constexpr FieldRule kShare = {.most = 1'000'000, .disagree = 250'000, .adds_up = false};
constexpr FieldRule kMemory = {.most = 4 << 20, .disagree = 1024, .adds_up = true};
constexpr std::array<FieldRule, kFields> kRules = {
    kShare,
    kShare,
    kShare,
    kShare,
    kShare,
    kMemory,
    kMemory,
    FieldRule{.most = 20'000'000, .disagree = 100'000, .adds_up = false},  // mW
    FieldRule{.most = 10'000, .disagree = 300, .adds_up = false},          // MHz
    FieldRule{.most = 200, .disagree = 15, .adds_up = false},              // °C
    FieldRule{.most = 100'000, .disagree = 0, .adds_up = false},           // fault code
    kMemory,
    kMemory,
    FieldRule{.most = 1023, .disagree = 0, .adds_up = false},  // index
};

constexpr std::string_view kPrefix = "amd_";
constexpr size_t kNameMax = 64;

char to_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

// DCGM and NVML: 0x7ffffff0 and up (32 bits), 2^47 and up (floating), 2^63-16 and up (64 bits).
bool is_blank(const Metric& metric, double raw) {
  if (!metric.name.starts_with("dcgm_")) return false;
  return raw >= 140737488355328.0 || (raw >= 2147483632.0 && raw <= 2147483647.0);
}

}  // namespace

const Metric* find_metric(std::string_view name) {
  static const auto kSorted = [] {
    std::array<const Metric*, std::size(kMetrics)> rows;
    std::ranges::transform(kMetrics, rows.begin(), [](const Metric& row) { return &row; });
    std::ranges::sort(rows, {}, &Metric::name);
    return rows;
  }();
  char lower[kNameMax];
  if (name.size() > kNameMax) return nullptr;
  std::ranges::transform(name, lower, to_lower);
  std::string_view wanted(lower, name.size());
  if (wanted.starts_with(kPrefix)) wanted.remove_prefix(kPrefix.size());
  const auto row = std::ranges::lower_bound(kSorted, wanted, {}, &Metric::name);
  return row != kSorted.end() && (*row)->name == wanted ? *row : nullptr;
}

const FieldRule& rule_of(Field field) { return kRules[static_cast<size_t>(field)]; }

Reading read_value(const Metric& metric, double raw) {
  if (std::isnan(raw)) return {.bad = BadValue::not_a_number};
  if (is_blank(metric, raw)) return {.bad = BadValue::blank};
  if (raw < 0) return {.bad = BadValue::negative};
  const double ours = raw * metric.scale;
  const auto most = static_cast<double>(rule_of(metric.field).most);
  // A share of time is measured over a time that is measured too: a little above the whole is the
  // whole.
  if (metric.scale >= kPercent && ours > most && ours <= most * 1.02)
    return {.value = rule_of(metric.field).most};
  if (ours > most) return {.bad = BadValue::impossible};
  return {.value = std::llround(ours)};
}

}  // namespace fairlead::evidence

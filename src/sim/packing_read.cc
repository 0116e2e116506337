// openb's tables, and the order of arrival that a seed makes.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "sim/go_random.h"
#include "sim/packing.h"

namespace fairlead {
namespace {

// A table with a header, without quotes.
class Rows {
 public:
  explicit Rows(PackText text) : source_(text.source), rest_(text.text) {
    next();
    for (size_t i = 0; i < fields_.size(); ++i) columns_.emplace(fields_[i], i);
  }

  bool next() {
    do {
      if (rest_.empty()) return false;
      const size_t end = std::min(rest_.find('\n'), rest_.size());
      line_ = rest_.substr(0, end);
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
      if (line_.ends_with('\r')) line_.remove_suffix(1);
      ++number_;
    } while (line_.empty());
    fields_.clear();
    for (std::string_view left = line_;;) {
      const size_t comma = left.find(',');
      fields_.push_back(left.substr(0, comma));
      if (comma == left.npos) return true;
      left.remove_prefix(comma + 1);
    }
  }
  bool has(std::string_view column) const { return columns_.contains(column); }
  std::string_view text(std::string_view column) const {
    const auto at = columns_.find(column);
    return at == columns_.end() || at->second >= fields_.size() ? "" : fields_[at->second];
  }
  std::optional<int64_t> number(std::string_view column, int64_t most) const {
    const std::string_view field = text(column);
    int64_t value = 0;
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    if (error != std::errc{} || end != field.data() + field.size() || value < 0 || value > most)
      return std::nullopt;
    return value;
  }
  std::unexpected<Diagnostic> bad(std::string what) const {
    return fail("packing-bad-row", std::move(what), "expected is a table of openb, as published",
                {.source = std::string(source_), .line = number_});
  }
  std::unexpected<Diagnostic> missing(std::string_view column) const {
    return fail("packing-column-missing", fmt::format("no column '{}'", column),
                "expected is a table of openb, as published",
                {.source = std::string(source_), .line = 1});
  }
  std::unexpected<Diagnostic> empty(std::string_view of) const {
    return fail("packing-empty", fmt::format("no {} in the table", of), "",
                {.source = std::string(source_)});
  }

 private:
  std::string_view source_, rest_, line_;
  std::vector<std::string_view> fields_;
  std::map<std::string_view, size_t> columns_;
  int number_ = 0;
};

constexpr int64_t kCpuMilliMax = 100'000'000;
constexpr int64_t kMemoryMax = int64_t{1} << 40;

Result<std::vector<PackNode>> read_nodes(PackText text) {
  Rows rows(text);
  for (const char* column : {"sn", "cpu_milli", "memory_mib", "gpu", "model"}) {
    if (!rows.has(column)) return rows.missing(column);
  }
  std::vector<PackNode> nodes;
  while (rows.next()) {
    const auto cpu = rows.number("cpu_milli", kCpuMilliMax);
    const auto memory = rows.number("memory_mib", kMemoryMax);
    const auto devices = rows.number("gpu", kPackDevicesMax);
    if (!cpu || !memory) return rows.bad("CPU or memory is no number");
    if (!devices)
      return rows.bad(
          fmt::format("'{}' is no number of devices up to {}", rows.text("gpu"), kPackDevicesMax));
    if (*devices == 0) continue;  // the experiment is about nodes with devices
    nodes.push_back({.name = std::string(rows.text("sn")),
                     .cpu_milli = static_cast<int32_t>(*cpu),
                     .memory_mib = *memory,
                     .devices = static_cast<int32_t>(*devices),
                     .model = std::string(rows.text("model"))});
  }
  if (nodes.empty()) return rows.empty("node with devices");
  return nodes;
}

Result<std::vector<PackPod>> read_pods(PackText text) {
  Rows rows(text);
  for (const char* column : {"name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli"}) {
    if (!rows.has(column)) return rows.missing(column);
  }
  std::vector<PackPod> pods;
  while (rows.next()) {
    const auto cpu = rows.number("cpu_milli", kCpuMilliMax);
    const auto memory = rows.number("memory_mib", kMemoryMax);
    const auto devices = rows.number("num_gpu", kPackDevicesMax);
    const auto milli = rows.number("gpu_milli", 1000);
    if (!cpu || !memory || !devices || !milli) return rows.bad("a request is no number");
    if (*devices > 0 && (*milli == 0 || (*devices > 1 && *milli < 1000)))
      return rows.bad("only a part of a single device can be asked for");
    pods.push_back({.name = std::string(rows.text("name")),
                    .cpu_milli = static_cast<int32_t>(*cpu),
                    .memory_mib = *memory,
                    .devices = static_cast<int32_t>(*devices),
                    .milli = *devices == 0 ? 0 : static_cast<int32_t>(*milli),
                    .models = std::string(rows.text("gpu_spec"))});
  }
  if (pods.empty()) return rows.empty("pod");
  // By name, as the experiment takes them; rows of one name stay in their order.
  std::vector<size_t> order(pods.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {},
                    [&](size_t i) { return std::pair<std::string_view, size_t>(pods[i].name, i); });
  std::vector<PackPod> sorted;
  for (const size_t i : order) sorted.push_back(std::move(pods[i]));
  return sorted;
}

}  // namespace

Result<PackTrace> read_pack_trace(PackText pods, PackText nodes) {
  auto read = read_nodes(nodes);
  if (!read) return std::unexpected(read.error());
  auto asked = read_pods(pods);
  if (!asked) return std::unexpected(asked.error());
  return PackTrace{.nodes = *std::move(read), .pods = *std::move(asked)};
}

// The draws of the original, one for one: a number nobody uses, the shuffle, pods on top (or off)
// until 130 % are asked for, ten that its informers use, and the permutation of the nodes.
Arrivals arrivals_of(const PackTrace& trace, int64_t seed) {
  constexpr int kUsedByInformers = 10;
  GoRandom random(seed);
  random.int63();
  Arrivals result;
  result.pods.resize(trace.pods.size());
  std::iota(result.pods.begin(), result.pods.end(), 0);
  random.shuffle(result.pods);

  int64_t capacity = 0, asked = 0;
  for (const PackNode& node : trace.nodes) capacity += int64_t{node.devices} * 1000;
  for (const PackPod& pod : trace.pods) asked += pod.milli_all();
  const int64_t target = capacity * kPackPercentMax / 100;
  const auto count = static_cast<int32_t>(trace.pods.size());
  if (asked < target) {
    while (asked > 0) {
      const int32_t draw = random.intn(count);
      const PackPod& pod = trace.pods[static_cast<size_t>(draw)];
      if (asked + pod.milli > target) break;  // of one device: a pod of several may overshoot
      asked += pod.milli_all();
      result.pods.push_back(draw);
    }
  } else {
    while (asked > target) {
      const int32_t draw = random.intn(static_cast<int32_t>(result.pods.size()));
      asked -= trace.pods[static_cast<size_t>(result.pods[static_cast<size_t>(draw)])].milli_all();
      result.pods.erase(result.pods.begin() + draw);
    }
  }
  for (int i = 0; i < kUsedByInformers; ++i) random.skip_float64();

  std::vector<int32_t> by_name(trace.nodes.size());
  std::iota(by_name.begin(), by_name.end(), 0);
  std::ranges::sort(by_name, {}, [&](int32_t n) {
    return std::pair<std::string_view, int32_t>(trace.nodes[static_cast<size_t>(n)].name, n);
  });
  const std::vector<int32_t> perm = random.perm(static_cast<int32_t>(trace.nodes.size()));
  result.rank.resize(trace.nodes.size());
  for (size_t i = 0; i < perm.size(); ++i) result.rank[static_cast<size_t>(by_name[i])] = perm[i];
  return result;
}

}  // namespace fairlead

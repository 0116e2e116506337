#include "evidence/normalise.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "evidence/normalise_merge.h"

namespace fairlead::evidence {
namespace {

constexpr Duration kAheadMax = seconds(300);
constexpr Instant kEarliest =
    instant_of_seconds(1'000'000'000);  // 2001: before it a clock is not set

std::string show(const DeviceName& device) {
  std::string text = device.host.empty() ? "?" : device.host;
  if (device.index >= 0)
    text += fmt::format(" gpu {}", device.index);
  else if (!device.uuid.empty())
    text += " " + device.uuid;
  return text;
}

Dropped reason_of(BadValue bad) {
  switch (bad) {
    case BadValue::negative:
      return Dropped::negative;
    case BadValue::blank:
      return Dropped::blank;
    case BadValue::impossible:
      return Dropped::impossible;
    default:
      return Dropped::not_a_number;
  }
}

// Numbers for texts, in their order.
class Ranks {
 public:
  void add(const std::string& text) { ranks_.emplace(text, 0); }
  void close() {
    uint32_t next = 0;
    for (auto& [text, rank] : ranks_) rank = next++;
  }
  uint32_t of(const std::string& text) const { return ranks_.find(text)->second; }

 private:
  std::map<std::string, uint32_t> ranks_;
};

}  // namespace

// Where the values of a device (as one exporter names it) stand among all.
struct Normaliser::Order {
  uint32_t physical = 0;  // devices_ index of the one name by which the device goes
  std::tuple<bool, std::string, int32_t, std::string> place;  // of that name
  uint32_t rank = 0;                                          // of that place
  uint32_t exporter = 0;
  uint32_t slice = 0;  // 0: the whole
};

std::string DropCounts::to_text() const {
  static constexpr std::string_view kWhat[kDropped] = {
      "not a number",          "negative",         "marked as not available",
      "more than is possible", "from the future",  "without a time",
      "naming no host",        "naming no device", "described better by another exporter"};
  std::string text;
  for (size_t why = 0; why < kDropped; ++why) {
    if (values[why] == 0) continue;
    text += fmt::format("{}{} values {}", text.empty() ? "" : ", ", values[why], kWhat[why]);
    if (!examples[why].empty()) text += fmt::format(" ({})", examples[why]);
  }
  if (contradictions > 0) {
    text += fmt::format("{}{} contradictions between exporters of one device",
                        text.empty() ? "" : ", ", contradictions);
  }
  return text;
}

void Normaliser::drop(Dropped why, const DeviceName& device, int64_t count) {
  dropped_.values[static_cast<size_t>(why)] += count;
  std::string& example = dropped_.examples[static_cast<size_t>(why)];
  std::string text = show(device);
  if (example.empty() || text < example) example = std::move(text);
}

std::optional<Normaliser::Series> Normaliser::open(std::string_view name,
                                                   std::span<const Label> labels,
                                                   std::string_view page_host) {
  const Metric* metric = find_metric(name);
  if (metric == nullptr) return std::nullopt;
  if (!metric->label.empty()) {
    const auto wanted = [&](const Label& label) {
      return label.name == metric->label && label.value == metric->label_value;
    };
    if (std::ranges::none_of(labels, wanted)) return std::nullopt;
  }
  DeviceName device = name_device(labels, page_host, nodes_);
  if (device.host.empty()) {
    drop(Dropped::no_host, device);
    return std::nullopt;
  }
  if (device.index < 0 && device.uuid.empty()) {
    drop(Dropped::no_device, device);
    return std::nullopt;
  }
  const std::string key = fmt::format("{}\n{}\n{}\n{}\n{}", device.host, device.index, device.uuid,
                                      device.slice, device.exporter);
  const auto [entry, is_new] = ids_.emplace(key, static_cast<uint32_t>(devices_.size()));
  if (is_new) devices_.push_back(std::move(device));
  return Series{metric, entry->second};
}

void Normaliser::add(const Series& series, Instant at, double raw) {
  const Reading reading = read_value(*series.metric, raw);
  if (reading.bad != BadValue::none) return drop(reason_of(reading.bad), devices_[series.device]);
  if (at < kEarliest) return drop(Dropped::no_time, devices_[series.device]);
  if (at > now_ + kAheadMax) return drop(Dropped::future, devices_[series.device]);
  values_.push_back({series.device, at, series.metric->field, series.metric->rank, reading.value});
}

// Some exporters name a device by its UUID alone and state its number as a value of its own.
void Normaliser::learn_indices() {
  std::map<std::string, std::pair<Instant, int64_t>> index_of;
  for (const Value& value : values_) {
    if (value.field != Field::device_index) continue;
    auto& newest = index_of[uuid_key(devices_[value.device].uuid)];
    newest = std::max(newest, {value.at, value.value});
  }
  if (index_of.empty()) return;
  for (DeviceName& device : devices_) {
    const auto found = index_of.find(uuid_key(device.uuid));
    if (device.index >= 0 || device.uuid.empty() || found == index_of.end()) continue;
    device.index = static_cast<int32_t>(found->second.second);
    const NodeDirectory::Entry* node = nodes_.find(device.host);
    device.known = nodes_.empty() || (node != nullptr && device.index < node->devices);
  }
}

// Finds for each name the one by which its device goes: that of its UUID which the scheduler knows,
// which has a number, which was seen last.
std::vector<Normaliser::Order> Normaliser::find_order() {
  std::vector<Instant> newest(devices_.size());
  for (const Value& value : values_)
    newest[value.device] = std::max(newest[value.device], value.at);
  const auto place = [&](uint32_t id) {
    const DeviceName& d = devices_[id];
    // A number is enough to tell a device; what has none goes by its UUID.
    return std::tuple(!d.known || d.index < 0, d.host, d.index,
                      d.index < 0 ? uuid_key(d.uuid) : std::string());
  };
  std::map<std::string, uint32_t> best;
  const auto better = [&](uint32_t a, uint32_t b) {
    const auto key = [&](uint32_t id) {
      return std::tuple(devices_[id].known && devices_[id].index >= 0, devices_[id].index >= 0,
                        newest[id]);
    };
    return key(a) != key(b) ? key(a) > key(b) : place(a) < place(b);
  };
  for (uint32_t id = 0; id < devices_.size(); ++id) {
    if (devices_[id].uuid.empty()) continue;
    const auto [entry, is_new] = best.emplace(uuid_key(devices_[id].uuid), id);
    if (!is_new && better(id, entry->second)) entry->second = id;
  }
  std::vector<Order> order(devices_.size());
  Ranks exporters, slices;
  std::map<std::tuple<bool, std::string, int32_t, std::string>, uint32_t> places;
  slices.add("");
  for (uint32_t id = 0; id < devices_.size(); ++id) {
    const auto found = best.find(uuid_key(devices_[id].uuid));
    order[id].physical = devices_[id].uuid.empty() ? id : found->second;
    order[id].place = place(order[id].physical);
    const bool elsewhere =
        devices_[id].known && devices_[id].index >= 0 && place(id) != order[id].place;
    if (elsewhere) ++dropped_.contradictions;
    exporters.add(devices_[id].exporter);
    slices.add(devices_[id].slice);
    places.emplace(order[id].place, 0);
  }
  exporters.close();
  slices.close();
  uint32_t next = 0;
  for (auto& [where, rank] : places) rank = next++;
  for (uint32_t id = 0; id < devices_.size(); ++id) {
    order[id].rank = places.find(order[id].place)->second;
    order[id].exporter = exporters.of(devices_[id].exporter);
    order[id].slice = slices.of(devices_[id].slice);
  }
  return order;
}

Normalised Normaliser::finish() {
  Normalised out;
  learn_indices();
  std::erase_if(values_, [](const Value& value) { return value.field == Field::device_index; });
  const std::vector<Order> order = find_order();
  const auto key = [&](const Value& v) {
    const Order& o = order[v.device];
    return std::tuple(o.rank, o.exporter, v.at, v.field, o.slice != 0, v.rank, o.slice, -v.value);
  };
  std::ranges::sort(values_, {}, key);
  for (size_t begin = 0; begin < values_.size();) {
    size_t end = begin;
    while (end < values_.size() &&
           order[values_[end].device].rank == order[values_[begin].device].rank)
      ++end;
    merge_exporters(std::span(values_).subspan(begin, end - begin), order, out);
    begin = end;
  }
  out.dropped = std::move(dropped_);
  return out;
}

// `values` are of one device: exporter by exporter, look by look.
void Normaliser::merge_exporters(std::span<const Value> values, std::span<const Order> order,
                                 Normalised& out) {
  std::vector<ExporterLooks> exporters;
  uint32_t exporter = 0;
  for (size_t begin = 0; begin < values.size();) {
    const uint32_t id = values[begin].device;
    if (begin == 0 || order[id].exporter != exporter) exporters.emplace_back();
    exporter = order[id].exporter;
    size_t end = begin;
    ExporterLook look{.at = values[begin].at};
    while (end < values.size() && order[values[end].device].exporter == exporter &&
           values[end].at == look.at) {
      const Value& value = values[end];
      look.take(value.field,
                {.slice = order[value.device].slice, .rank = value.rank, .value = value.value});
      if (look.uuid.empty()) look.uuid = devices_[value.device].uuid;
      ++end;
    }
    exporters.back().push_back(std::move(look));
    begin = end;
  }
  const Merged merged = merge_looks(exporters);
  const DeviceName& name = devices_[order[values[0].device].physical];
  if (merged.dropped > 0) drop(Dropped::other_exporter, name, merged.dropped);
  dropped_.contradictions += merged.contradictions;
  auto& into = name.known && name.index >= 0 ? out.samples : out.unmatched;
  for (const ExporterLook& look : merged.looks) {
    DeviceSample sample = look.to_sample();
    sample.node = name.host;
    sample.index = name.index;
    if (sample.uuid.empty()) sample.uuid = name.uuid;
    if (look.says_something()) into.push_back(std::move(sample));
  }
}

}  // namespace fairlead::evidence

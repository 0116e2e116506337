#include "sim/sbatch_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/history_read.h"

namespace fairlead {
namespace {

std::optional<int32_t> count_of(std::string_view text) {
  const auto number = whole_number(text);
  if (!number || *number < 0 || *number > 1'000'000) return std::nullopt;
  return static_cast<int32_t>(*number);
}

// "8", "h100:8"
bool read_devices(std::string_view text, DeviceRequest& devices, int32_t& count) {
  if (const size_t colon = text.find(':'); colon != text.npos) {
    devices.model = text.substr(0, colon);
    text.remove_prefix(colon + 1);
  }
  const auto number = count_of(text);
  if (!number) return false;
  count = *number;
  return true;
}

// "512G", "2048"
bool read_memory(std::string_view text, int64_t& mb) {
  int64_t scale = 1;
  if (!text.empty()) {
    const char unit = text.back();
    if (unit == 'G') scale = 1024;
    if (unit == 'T') scale = 1024 * 1024;
    if (unit == 'G' || unit == 'T' || unit == 'M') text.remove_suffix(1);
  }
  const auto number = count_of(text);
  mb = number.value_or(0) * scale;
  return number.has_value();
}

bool read_begin(std::string_view text, const SbatchContext& context, Job& job) {
  if (!text.starts_with("now+")) return false;
  const auto after = parse_duration(text.substr(4));
  if (!after) return false;
  job.begin = context.now + *after;
  return true;
}

bool read_dependency(std::string_view text, const SbatchContext& context, ModelSubmission& s) {
  if (take_field(text, ':') != "afterok") return false;
  while (!text.empty()) {
    const auto id = context.id_of(take_field(text, ':'));
    if (!id) return false;
    s.after_ok.push_back(*id);
  }
  return true;
}

bool read_nodes(std::string_view text, JobRequest& request) {
  const auto least = count_of(take_field(text, '-'));
  request.nodes_min = least.value_or(1);
  request.nodes_max = text.empty() ? 0 : count_of(text).value_or(0);
  return least.has_value();
}

}  // namespace

std::optional<int64_t> parse_time_limit(std::string_view text) {
  if (!text.empty() && (text.back() < '0' || text.back() > '9')) {
    const auto span = parse_duration(text);
    return span ? std::optional(whole_seconds(*span)) : std::nullopt;
  }
  const auto span = parse_slurm_span(text);
  return span && *span >= 0 ? span : std::nullopt;
}

std::string read_sbatch_option(std::string_view option, const SbatchContext& context,
                               ModelSubmission& s) {
  std::string_view value = option;
  const std::string_view name = take_field(value, '=');
  Job& j = s.job;
  JobRequest& r = j.request;
  bool ok = true;
  if (name == "--nodes" || name == "-N")
    ok = read_nodes(value, r);
  else if (name == "--gpus-per-node")
    ok = read_devices(value, r.devices, r.devices.per_node);
  else if (name == "--gpus")
    ok = read_devices(value, r.devices, r.devices.total);
  else if (name == "--gres")
    ok = value.starts_with("gpu:") && read_devices(value.substr(4), r.devices, r.devices.per_node);
  else if (name == "--cpus-per-task")
    r.cpus_per_node = count_of(value).value_or(-1), ok = r.cpus_per_node >= 0;
  else if (name == "--mem")
    ok = read_memory(value, r.memory_per_node_mb);
  else if (name == "--time")
    r.time_limit_s = parse_time_limit(value).value_or(-1), ok = r.time_limit_s >= 0;
  else if (name == "--time-min")
    r.time_min_s = parse_time_limit(value).value_or(0), ok = r.time_min_s > 0;
  else if (name == "--begin")
    ok = read_begin(value, context, j);
  else if (name == "--dependency")
    ok = read_dependency(value, context, s);
  else if (name == "--priority")
    j.priority = count_of(value).value_or(-1), ok = j.priority >= 0;
  else if (name == "--account")
    j.account = value;
  else if (name == "--uid")
    j.user = value;
  else if (name == "--qos")
    j.qos = value;
  else if (name == "--partition")
    j.partition = value;
  else if (name == "--reservation")
    j.reservation = value;
  else if (name == "--constraint")
    r.features = value;
  else if (name == "--licenses")
    r.licences = value;
  else if (name == "--array")
    s.array = value;
  else if (name == "--hold")
    s.held = true;
  else if (name == "--exclusive")
    r.exclusive = true;
  else if (name == "--requeue")
    s.may_requeue = true;
  else if (name == "--no-requeue")
    s.may_requeue = false;
  else
    return fmt::format("'{}' is no option of sbatch that the model knows", name);
  return ok ? "" : fmt::format("'{}' has a value that cannot be read", option);
}

void settle_sbatch_options(ModelSubmission& s) {
  JobRequest& r = s.job.request;
  r.nodes_min = std::max(r.nodes_min, 1);
  if (r.devices.per_node > 0 && r.devices.total == 0)
    r.devices.total = r.devices.per_node * r.nodes_min;
  if (r.devices.per_node == 0 && r.nodes_min == 1 && r.nodes_max == 1)
    r.devices.per_node = r.devices.total;
}

}  // namespace fairlead

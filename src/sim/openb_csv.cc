// Alibaba's openb: a list of pods and one of nodes. sim/openb.cc gives the pods their places.
#include <fmt/format.h>

#include <algorithm>

#include "sim/csv_table.h"

namespace fairlead {

bool is_openb_pods(std::string_view text) {
  return csv_header_has(text, {"name", "num_gpu", "gpu_milli", "creation_time"});
}
bool is_openb_nodes(std::string_view text) {
  return csv_header_has(text, {"sn", "cpu_milli", "memory_mib", "gpu", "model"});
}

Result<void> read_openb_pods(HistoryBuilder& builder, HistoryInput& input) {
  HistoryNotes& notes = builder.notes();
  notes.has_starts = notes.has_ends = notes.has_devices = true;
  const int64_t zero = relative_zero(builder);
  return read_csv_runs(builder, input, [&](const CsvTable& t, HistoryRun& run) -> const char* {
    RunTable& table = builder.table();
    const auto created = t.number("creation_time");
    if (!created) return "creation_time is no number of seconds";
    const auto scheduled = t.number("scheduled_time");
    const auto deleted = t.number("deletion_time");
    run.submit = zero + *created;
    run.start = scheduled ? zero + *scheduled : 0;
    run.end = deleted ? zero + *deleted : 0;
    const std::string_view phase = t.get("pod_phase");
    if (deleted)
      run.state = phase == "Failed" ? JobState::failed : JobState::completed;
    else
      run.state = run.start != 0 ? JobState::running : JobState::pending;
    run.label = table.put(t.get("name"));
    run.qos = table.names().intern(t.get("qos"));
    const std::string_view spec = t.get("gpu_spec");
    run.models_allowed = table.names().intern(spec);
    if (spec.find('|') == spec.npos) run.model = run.models_allowed;
    run.cpus = static_cast<int32_t>(
        std::min<int64_t>(t.number("cpu_milli").value_or(0) / 1000, 1'000'000));
    const auto milli = t.number("gpu_milli");
    if (milli && *milli > 0 && *milli < 1000) run.share_milli = static_cast<int32_t>(*milli);
    return set_devices(run, t.number("num_gpu"));
  });
}

Result<void> read_openb_nodes(HistoryBuilder& builder, HistoryInput& input) {
  CsvTable table(builder, input);
  while (table.next()) {
    if (const char* wrong = table.defect()) {
      builder.skip(wrong, table.line());
      continue;
    }
    const auto devices = table.number("gpu");
    const std::string_view name = table.get("sn");
    if (name.empty() || !devices || *devices > 1024) {
      builder.skip("a node without a name or a number of devices", table.line());
      continue;
    }
    ++builder.notes().rows;
    Node node{.name = std::string(name), .state = NodeState::idle};
    if (*devices > 0)
      node.devices = {
          {.model = std::string(table.get("model")), .count = static_cast<int32_t>(*devices)}};
    node.cpus = static_cast<int32_t>(
        std::min<int64_t>(table.number("cpu_milli").value_or(0) / 1000, 1'000'000));
    node.memory_mb = table.number("memory_mib").value_or(0);
    builder.fleet().push_back(std::move(node));
  }
  builder.notes().has_fleet = !builder.fleet().empty();
  return {};
}

}  // namespace fairlead

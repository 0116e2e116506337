// Helios: demand by minute of each virtual cluster, and no jobs.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "sim/csv_table.h"

namespace fairlead {

bool is_helios(std::string_view text) {
  return csv_header_has(text, {"time", "total_gpu_num", "running_gpu_num", "pending_gpu_num"});
}

namespace {

// "dir/Earth_vc6YE_gpu_sequence.csv" -> "vc6YE"
std::string_view pool_of(std::string_view source) {
  source = source.substr(source.find_last_of('/') + 1);
  const size_t at = source.find("vc");
  if (at == source.npos) return source.substr(0, source.find('.'));
  return source.substr(at, source.find_first_of("_.", at) - at);
}

}  // namespace

Result<void> read_helios(HistoryBuilder& builder, HistoryInput& input) {
  HistoryNotes& notes = builder.notes();
  notes.has_devices = notes.has_fleet = notes.has_teams = true;
  builder.remark(
      "the trace has demand by minute and no jobs: in each virtual cluster one holder stands for "
      "all that ran, "
      "and one request for all that waited; waits of jobs are not known");
  CsvTable table(builder, input);
  std::vector<AggregateRow>& rows = builder.aggregate();
  const NameId pool = builder.table().names().intern(pool_of(input.source));
  AggregateRow last;
  while (table.next()) {
    if (const char* wrong = table.defect()) {
      builder.skip(wrong, table.line());
      continue;
    }
    const auto second = parse_time(table.get("time"), 0);
    const auto total = table.number("total_gpu_num");
    const auto running = table.number("running_gpu_num");
    const auto waiting = table.number("pending_gpu_num");
    if (!second || *second == 0 || !total || !running || !waiting || *total > 1024 ||
        *waiting > kDevicesMost) {
      builder.skip("a minute without its time or its numbers", table.line());
      continue;
    }
    ++notes.rows;
    const AggregateRow row{.second = *second,
                           .pool = pool,
                           .total = static_cast<int32_t>(*total),
                           .running = static_cast<int32_t>(std::min(*running, *total)),
                           .waiting = static_cast<int32_t>(*waiting)};
    if (*running > *total)
      builder.remark("in some minutes more devices run than there are: cut to the total");
    const bool same = last.second != 0 && std::tie(last.total, last.running, last.waiting) ==
                                              std::tie(row.total, row.running, row.waiting);
    last = row;
    if (!same) rows.push_back(row);
  }
  if (last.second != 0 && rows.back().second != last.second)
    rows.push_back(last);  // until here it was so
  std::ranges::sort(rows, [](const AggregateRow& a, const AggregateRow& b) {
    return std::tie(a.second, a.pool) < std::tie(b.second, b.pool);
  });
  return {};
}

}  // namespace fairlead

#include <array>

#include "codec/event_json.h"
#include "sim/history_read.h"

namespace fairlead {

bool is_journal(std::string_view text) { return text.starts_with("{\"fairlead_events\""); }

// Every line is read once here, so that what is wrong is known before a replay; and again when its
// turn comes, so that a long journal need not lie in memory as events.
Result<void> read_journal(HistoryBuilder& builder, HistoryInput& input) {
  std::string_view text = input.text;
  if (const auto ok = check_event_header(take_line(text)); !ok) {
    Diagnostic wrong = ok.error();
    wrong.place = {.source = input.source, .line = 1, .column = 1};
    return std::unexpected(std::move(wrong));
  }
  HistoryNotes& notes = builder.notes();
  notes.has_polls = true;
  builder.line = 1;
  while (!text.empty()) {
    ++builder.line;
    const std::string_view line = take_line(text);
    if (line.empty() || line.starts_with("{\"fairlead_events\"")) continue;
    const auto event = read_event(line);
    if (!event) {
      builder.skip(event.error().message, line);
      continue;
    }
    ++notes.rows;
    if (!notes.from.known() || event->at < notes.from) notes.from = event->at;
    notes.until = std::max(notes.until, event->at);
    notes.has_fleet = notes.has_fleet || std::holds_alternative<Node>(event->what);
    notes.has_telemetry = notes.has_telemetry || std::holds_alternative<Samples>(event->what);
    if (std::holds_alternative<Job>(event->what)) {
      notes.has_starts = notes.has_ends = notes.has_devices = notes.has_teams = notes.has_limits =
          true;
    }
  }
  if (notes.rows > notes.skipped_rows())
    builder.journal().push_back({input.source, std::move(input.text)});
  return {};
}

std::span<const HistoryFormat> history_formats() {
  static constexpr std::array kFormats = {
      HistoryFormat{"journal", is_journal, read_journal},
      HistoryFormat{"sacct --json", is_sacct_json, read_sacct_json},
      HistoryFormat{"swf", is_swf, read_swf},
      HistoryFormat{"philly", is_philly, read_philly},
      HistoryFormat{"openb", is_openb_pods, read_openb_pods},
      HistoryFormat{"openb nodes", is_openb_nodes, read_openb_nodes},
      HistoryFormat{"helios", is_helios, read_helios},
      HistoryFormat{"muri", is_muri, read_muri},
      HistoryFormat{"chronus", is_chronus, read_chronus},
      HistoryFormat{"gavel", is_gavel, read_gavel},
      HistoryFormat{"gavel trace", is_gavel_trace, read_gavel_trace},
      HistoryFormat{"shockwave", is_shockwave, read_shockwave},
      HistoryFormat{"elasticflow", is_elasticflow, read_elasticflow},
      HistoryFormat{"pollux", is_pollux, read_pollux},
      HistoryFormat{"alibaba dlrm", is_dlrm, read_dlrm},
      HistoryFormat{"csv", is_own_csv, read_own_csv},
      HistoryFormat{"sacct -P", is_sacct_text, read_sacct_text},
  };
  return kFormats;
}

}  // namespace fairlead

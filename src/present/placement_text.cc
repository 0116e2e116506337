#include "present/placement_text.h"

#include <fmt/format.h>

namespace fairlead {
namespace {

std::string left_text(const RoomLeft& left) {
  return fmt::format("{} free, {} whole, {} loose", with_thousands(left.devices),
                     plural(left.whole_nodes, "node"), with_thousands(left.loose));
}

std::string nodes_block(const PlacementTold& p, const TextOptions& options) {
  Table table{.columns = {{"node"}, {"GPUs", Align::right}, {"free before", Align::right}},
              .rows = {}};
  for (const PlacementNode& n : p.nodes)
    table.rows.push_back({n.node, with_thousands(n.gpus), with_thousands(n.free_before)});
  constexpr size_t kShown = 16;
  return block(table, options, {.rows_max = options.wide ? 0 : kShown});
}

std::string options_block(const PlacementTold& p, const TextOptions& options) {
  Table table{.columns = {{"place"},
                          {"nodes"},
                          {"leaves", Align::right},
                          {"under"},
                          {"left: free", Align::right},
                          {"whole nodes", Align::right},
                          {"loose", Align::right},
                          {"why"}},
              .rows = {}};
  for (const PlacementOption& o : p.options)
    table.rows.push_back({&o == p.options.data() ? "first" : "else", o.nodes,
                          with_thousands(o.leaves), o.under.empty() ? "-" : o.under,
                          with_thousands(o.left.devices), with_thousands(o.left.whole_nodes),
                          with_thousands(o.left.loose), o.because});
  return block(table, options);
}

}  // namespace

std::string placement_text(const PlacementTold& p, const TextOptions& options) {
  std::string out =
      paragraph(fmt::format("{}  {} / {}", p.workload, p.team.empty() ? "(no team)" : p.team,
                            p.klass.empty() ? "(no class)" : p.klass),
                options, 0) +
      paragraph("wants " + p.wants, options, 0) + "\n";
  if (!p.note.empty()) return out + paragraph(p.note, options);
  if (p.fits) {
    out += heading("As the next it would stand on " + p.options[0].nodes, options) +
           nodes_block(p, options);
    out += "\n" + heading("Why there, and where else", options) + options_block(p, options);
    out += "\n" + paragraph(fmt::format("room before: {}; after: {}", left_text(p.before),
                                        left_text(p.options[0].left)),
                            options);
  } else {
    out += paragraph(fmt::format("It fits nowhere now; room: {}.", left_text(p.before)), options);
  }
  for (const std::string& line : p.keeps) out += paragraph(line, options);
  if (p.verdict == "start") {
    std::string text = "By " + p.organisation + " it would start now";
    if (!p.start_nodes.empty()) text += " on " + p.start_nodes;
    if (!p.takes_back.empty())
      text += fmt::format(", with devices taken back from {}", fmt::join(p.takes_back, " "));
    out += paragraph(text + " (suggested, nothing is done).", options);
  }
  return out;
}

Table placement_table(const PlacementTold& p) {
  Table table{.columns = {{"workload"},
                          {"place"},
                          {"nodes"},
                          {"gpus", Align::right},
                          {"model"},
                          {"leaves", Align::right},
                          {"under"},
                          {"gpus_left", Align::right},
                          {"whole_nodes_left", Align::right},
                          {"loose_gpus_left", Align::right},
                          {"because"}},
              .rows = {}};
  for (const PlacementOption& o : p.options)
    table.rows.push_back({p.workload, &o == p.options.data() ? "first" : "else", o.nodes,
                          std::to_string(o.gpus), o.model, std::to_string(o.leaves), o.under,
                          std::to_string(o.left.devices), std::to_string(o.left.whole_nodes),
                          std::to_string(o.left.loose), o.because});
  return table;
}

}  // namespace fairlead

#include "present/node_text.h"

#include <fmt/format.h>

namespace fairlead {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

}  // namespace

std::string node_report_text(const NodeReport& r, const TextOptions& options) {
  if (r.nodes.empty()) return paragraph("No node is to be shown.", options, 0);
  Table table{.columns = {{"node"}, {"state"}, {"GPUs", Align::right}}, .rows = {}};
  for (const ColumnLook& look : column_looks())
    table.columns.push_back({std::string(look.title), Align::right});
  table.columns.push_back({"held by"});
  for (const NodeRow& n : r.nodes) {
    auto& cells = table.rows.emplace_back();
    cells = {n.node, n.state, with_thousands(n.gpus_total)};
    for (const ColumnLook& look : column_looks()) {
      const int64_t gpus = n.gpus[look.column];
      cells.push_back(gpus == 0 ? "-" : with_thousands(gpus));
    }
    cells.push_back(joined(n.workloads));
  }
  return block(table, options, {.indent = 0}) +
         "\nGPUs as they are now: the ledger keeps no seconds by node.\n";
}

Table node_report_table(const NodeReport& r) {
  Table table{.columns = {{"node"}, {"state"}, {"leaf"}, {"models"}, {"gpus_total", Align::right}},
              .rows = {}};
  for (const ColumnLook& look : column_looks())
    table.columns.push_back({std::string(look.key) + "_gpus", Align::right});
  table.columns.push_back({"workloads"});
  for (const NodeRow& n : r.nodes) {
    auto& cells = table.rows.emplace_back();
    cells = {n.node, n.state, n.leaf, n.models, std::to_string(n.gpus_total)};
    for (const ColumnLook& look : column_looks())
      cells.push_back(std::to_string(n.gpus[look.column]));
    cells.push_back(joined(n.workloads));
  }
  return table;
}

std::string fabric_path_text(const FabricPath& p, const TextOptions& options) {
  if (p.from == p.to) return paragraph(p.from + " is one node: nothing lies between.", options, 0);
  if (!p.joined) {
    return paragraph(fmt::format("Nobody says how {} and {} are joined: no switch holds both. "
                                 "`fairlead fabric tree` shows what is known.",
                                 p.from, p.to),
                     options, 0);
  }
  std::string text;
  const PathStop* top = nullptr;
  for (const PathStop& s : p.stops) {
    if (s.kind == "switch" && (top == nullptr || s.level > top->level)) top = &s;
    text += (text.empty() ? "" : " → ") + s.name;
  }
  return paragraph(text, options, 0) +
         paragraph(fmt::format("{}; they meet at {}, level {}", plural(p.hops, "link"), top->name,
                               top->level),
                   options, 0);
}

Table fabric_path_table(const FabricPath& p) {
  Table table{.columns = {{"name"}, {"kind"}, {"level", Align::right}}, .rows = {}};
  for (const PathStop& s : p.stops)
    table.rows.push_back({s.name, s.kind, s.level < 0 ? "" : std::to_string(s.level)});
  return table;
}

std::string fabric_diff_text(const FabricDiff& d, const TextOptions& options) {
  const std::string span = fmt::format("{} to {}", local_time(d.from), local_time(d.to));
  if (d.changes.empty())
    return paragraph(fmt::format("No fact about a node changed, {}.", span), options, 0);
  Table table{.columns = {{"node"}, {"what"}, {"before"}, {"after"}, {"seen"}}, .rows = {}};
  for (const FabricChange& c : d.changes)
    table.rows.push_back({c.node, words(c.what), c.before.empty() ? "-" : c.before,
                          c.after.empty() ? "-" : c.after, local_time(c.at)});
  return paragraph(
             fmt::format("{}, {}", plural(static_cast<int64_t>(d.changes.size()), "change"), span),
             options, 0) +
         "\n" + block(table, options, {.indent = 0});
}

Table fabric_diff_table(const FabricDiff& d) {
  Table table{.columns = {{"node"}, {"what"}, {"before"}, {"after"}, {"at"}}, .rows = {}};
  for (const FabricChange& c : d.changes)
    table.rows.push_back({c.node, c.what, c.before, c.after, c.at.known() ? to_rfc3339(c.at) : ""});
  return table;
}

}  // namespace fairlead

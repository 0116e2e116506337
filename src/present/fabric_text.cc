#include "present/fabric_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/hostlist.h"

namespace fairlead {
namespace {

Instant now_of(const Fabric& f, const TextOptions& options) {
  return options.now.known() ? options.now : f.as_of;
}

// One glyph for each device, in the order of their indices.
std::string cells(const NodeView& node, const TextOptions& options) {
  std::string out;
  for (const DeviceView& d : node.devices) out += glyph(look_of(d.column), options);
  return out;
}

std::string legend(const TextOptions& options) {
  std::string out;
  for (const ColumnLook& look : column_looks())
    out += (out.empty() ? "" : "   ") + glyph(look, options) + " " + std::string(look.title);
  return out + "\n";
}

constexpr std::string_view kNothing =
    "No node is known: `fairlead doctor` says what can be read.\n";

bool serves(const NodeView& n) {
  return n.state == "idle" || n.state == "mixed" || n.state == "allocated";
}

std::string state_of(const NodeView& n) {
  return n.reason.empty() ? n.state : n.state + ": " + n.reason;
}

std::vector<std::string> members_of(const SwitchView& s) {
  return expand_hostlist(s.nodes).value_or(std::vector<std::string>{});
}

// For each switch the one above it: the lowest higher one that holds its first node; its own index
// where none does.
std::vector<size_t> parents_of(const std::vector<SwitchView>& switches) {
  std::vector<size_t> order(switches.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, {}, [&](size_t i) { return std::pair(switches[i].level, i); });
  std::vector<size_t> parents(switches.size());
  std::map<std::string, std::vector<size_t>> orphans;  // by their first node
  for (const size_t i : order) {
    parents[i] = i;
    const std::vector<std::string> names = members_of(switches[i]);
    for (const std::string& name : names) {
      const auto it = orphans.find(name);
      if (it == orphans.end()) continue;
      std::erase_if(it->second, [&](size_t child) {
        if (switches[child].level >= switches[i].level) return false;
        parents[child] = i;
        return true;
      });
    }
    if (!names.empty()) orphans[names.front()].push_back(i);
  }
  return parents;
}

class Tree {
 public:
  Tree(const Fabric& fabric, const TextOptions& options)
      : fabric_(fabric), options_(options), parents_(parents_of(fabric.switches)) {
    for (const NodeView& n : fabric.nodes) left_[n.node] = &n;
  }

  std::string text() {
    for (size_t i = 0; i < parents_.size(); ++i) {
      if (parents_[i] == i) walk(i, 0);
    }
    if (!left_.empty() && !parents_.empty()) out_ += "(under no switch)\n";
    for (const auto& [name, node] : left_) node_line(*node, parents_.empty() ? 0 : 1);
    return out_;
  }

 private:
  static std::string blanks(int depth) { return std::string(static_cast<size_t>(depth) * 2, ' '); }

  void walk(size_t i, int depth) {
    const SwitchView& s = fabric_.switches[i];
    out_ += fmt::format("{}{}  {} of {} free, {} whole\n", blanks(depth), printable(s.name),
                        with_thousands(s.gpus_free), plural(s.gpus_total, "GPU"),
                        plural(s.nodes_whole_free, "node"));
    for (size_t child = 0; child < parents_.size(); ++child) {
      if (child != i && parents_[child] == i) walk(child, depth + 1);
    }
    for (const std::string& name : members_of(s)) {
      const auto it = left_.find(name);
      if (it == left_.end() || (!it->second->leaf.empty() && it->second->leaf != s.name)) continue;
      node_line(*it->second, depth + 1);
      left_.erase(it);
    }
  }

  void node_line(const NodeView& n, int depth) {
    out_ += fmt::format("{}{}  {}  {} of {} free{}\n", blanks(depth), printable(n.node),
                        cells(n, options_), n.gpus.free + n.gpus.stranded, n.gpus_total,
                        serves(n) ? "" : "  " + printable(state_of(n)));
  }

  const Fabric& fabric_;
  const TextOptions& options_;
  std::vector<size_t> parents_;
  std::map<std::string, const NodeView*> left_;
  std::string out_;
};

}  // namespace

std::string fabric_text(const Fabric& f, const TextOptions& options) {
  if (f.nodes.empty()) return std::string(kNothing);
  const Instant now = now_of(f, options);
  TextOptions plain = options;
  plain.colour = false;  // tables measure characters
  Table table{.columns = {{"node"},
                          {"leaf"},
                          {"GPUs"},
                          {"devices"},
                          {"free", Align::right},
                          {"CPUs", Align::right},
                          {"memory GiB", Align::right},
                          {"seen", Align::right},
                          {"state"}},
              .rows = {}};
  for (const NodeView& n : f.nodes) {
    table.rows.push_back({n.node, n.leaf.empty() ? "-" : n.leaf, n.models.empty() ? "-" : n.models,
                          cells(n, plain), with_thousands(n.gpus.free + n.gpus.stranded),
                          fmt::format("{}/{}", n.cpus_used, n.cpus),
                          fmt::format("{}/{}", n.memory_used_mb / 1024, n.memory_mb / 1024),
                          age(n.seen, now), state_of(n)});
  }
  return block(table, options, {.indent = 0}) + "\n" + legend(options);
}

std::string fabric_tree(const Fabric& f, const TextOptions& options) {
  if (f.nodes.empty()) return std::string(kNothing);
  return Tree(f, options).text() + "\n" + legend(options);
}

Table fabric_table(const Fabric& f) {
  Table table{.columns = {{"node"}, {"state"}, {"leaf"}, {"models"}, {"gpus", Align::right}},
              .rows = {}};
  for (const ColumnLook& look : column_looks())
    table.columns.push_back({std::string(look.key) + "_gpus", Align::right});
  for (const char* title : {"cpus", "cpus_used", "memory_mb", "memory_used_mb"})
    table.columns.push_back({title, Align::right});
  for (const char* title : {"features", "seen", "reason"}) table.columns.push_back({title});
  for (const NodeView& n : f.nodes) {
    auto& cells = table.rows.emplace_back();
    cells = {n.node, n.state, n.leaf, n.models, std::to_string(n.gpus_total)};
    for (const ColumnLook& look : column_looks())
      cells.push_back(std::to_string(n.gpus[look.column]));
    for (const int64_t number : {n.cpus, n.cpus_used, n.memory_mb, n.memory_used_mb})
      cells.push_back(std::to_string(number));
    std::string features;
    for (const std::string& feature : n.features)
      features += (features.empty() ? "" : " ") + feature;
    cells.insert(cells.end(), {features, n.seen.known() ? to_rfc3339(n.seen) : "", n.reason});
  }
  return table;
}

}  // namespace fairlead

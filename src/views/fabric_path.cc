#include "views/fabric_path.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/hostlist.h"
#include "base/words.h"

namespace fairlead {
namespace {

struct Above {
  const SwitchView* view = nullptr;
  std::vector<std::string> members;
  bool holds(std::string_view node) const {
    return std::ranges::find(members, node) != members.end();
  }
};

// The switches over a node, the lowest first.
std::vector<Above> above(const Fabric& fabric, std::string_view node) {
  std::vector<Above> list;
  for (const SwitchView& s : fabric.switches) {
    Above found{&s, expand_hostlist(s.nodes).value_or(std::vector<std::string>{})};
    if (found.holds(node)) list.push_back(std::move(found));
  }
  std::ranges::sort(list, {},
                    [](const Above& a) { return std::pair(a.view->level, a.view->name); });
  return list;
}

Result<void> check_node(const Fabric& fabric, std::string_view name) {
  std::vector<std::string> names;
  for (const NodeView& n : fabric.nodes) {
    if (n.node == name) return {};
    names.push_back(n.node);
  }
  const std::string nearest = nearest_word(name, names);
  return fail("node-unknown", fmt::format("no node is named '{}'", name.substr(0, 80)),
              nearest.empty() ? "`fairlead fabric -o name` lists them"
                              : fmt::format("did you mean '{}'?", nearest));
}

PathStop stop_of(const SwitchView& s) {
  return {.name = s.name, .kind = "switch", .level = s.level};
}

}  // namespace

Result<FabricPath> path_between(const Fabric& fabric, std::string_view from, std::string_view to) {
  for (const std::string_view name : {from, to}) {
    if (const auto known = check_node(fabric, name); !known) return std::unexpected(known.error());
  }
  FabricPath path{.site = fabric.site,
                  .as_of = fabric.as_of,
                  .from = std::string(from),
                  .to = std::string(to),
                  .stops = {}};
  path.stops.push_back({.name = path.from, .kind = "node"});
  if (from == to) {
    path.joined = true;
    return path;
  }
  const std::vector<Above> up = above(fabric, from), down = above(fabric, to);
  const auto meet = std::ranges::find_if(up, [&](const Above& a) { return a.holds(to); });
  path.joined = meet != up.end();
  if (path.joined) {
    for (auto it = up.begin(); it != std::next(meet); ++it)
      path.stops.push_back(stop_of(*it->view));
    for (auto it = down.rbegin(); it != down.rend(); ++it) {
      if (!it->holds(from)) path.stops.push_back(stop_of(*it->view));
    }
  }
  path.stops.push_back({.name = path.to, .kind = "node"});
  path.hops = path.joined ? static_cast<int64_t>(path.stops.size()) - 1 : 0;
  return path;
}

}  // namespace fairlead

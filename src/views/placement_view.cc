#include "views/placement_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/hostlist.h"
#include "explain/explain.h"
#include "explain/simulate.h"

namespace fairlead {
namespace {

std::string leaves_text(size_t n) { return n == 1 ? "one leaf" : fmt::format("{} leaves", n); }

// Why the planner's place is the one it takes: the rules of fabric/capacity_index.h in words.
std::string why(const Stand& stand, const RoomLeft& before) {
  std::string text =
      stand.level > 0 ? fmt::format("no lower switch than {} has room for all of it",
                                    stand.lowest.empty() ? "the root" : stand.lowest)
      : stand.lowest.empty()
          ? "of those with room for it, it leaves the least to spare"
          : fmt::format(
                "all of it under {}, which of those with room for it has the least to spare",
                stand.lowest);
  const int64_t broken = before.whole_nodes - stand.left.whole_nodes;
  const bool fills = std::ranges::all_of(
      stand.parts, [](const Stand::Part& part) { return part.free_before == part.devices; });
  if (fills) return text + "; it fills its nodes";
  if (broken == 0) return text + "; on nodes that are taken in part already";
  return text + fmt::format("; {} broken into", broken == 1
                                                    ? "1 whole node is"
                                                    : fmt::format("{} whole nodes are", broken));
}

std::string fewer(int64_t nodes) {
  return nodes == 1 ? "1 whole node fewer" : fmt::format("{} whole nodes fewer", nodes);
}

// What is worse about another than about the first.
std::string why_not(const Stand& other, const Stand& first) {
  std::string text;
  const auto say = [&](const std::string& what) { text += (text.empty() ? "" : ", ") + what; };
  if (other.leaves.size() > first.leaves.size())
    say(fmt::format("{} instead of {}", leaves_text(other.leaves.size()),
                    leaves_text(first.leaves.size())));
  if (other.level > first.level) say("a higher switch");
  if (other.left.whole_nodes < first.left.whole_nodes)
    say(fmt::format("{} left", fewer(first.left.whole_nodes - other.left.whole_nodes)));
  if (other.left.loose > first.left.loose) {
    const int64_t more = other.left.loose - first.left.loose;
    say(more == 1 ? "1 more loose GPU" : fmt::format("{} more loose GPUs", more));
  }
  return text.empty() ? "no worse by these numbers: more to spare below its switch" : text;
}

PlacementOption option_of(const State& state, const Stand& stand) {
  PlacementOption option{.nodes = {},
                         .gpus = 0,
                         .model = stand.model,
                         .leaves = std::ssize(stand.leaves),
                         .under = stand.lowest,
                         .left = stand.left,
                         .because = {}};
  std::vector<std::string> names;
  for (const Stand::Part& part : stand.parts) {
    names.push_back(state.fleet.node(part.node).facts.name);
    option.gpus += part.devices;
  }
  option.nodes = fold_hostlist(names);
  return option;
}

PlacementTold placement_of(const Engine& engine, const Workload& w, const Explanation& x) {
  const State& state = engine.state();
  PlacementTold placement{.site = state.site, .as_of = x.as_of};
  placement.workload = x.workload;
  placement.team = x.team;
  placement.klass = x.klass;
  placement.wants = x.wants;
  placement.organisation = x.policy.organisation;
  placement.verdict = x.policy.verdict;
  placement.start_nodes = x.policy.nodes;
  placement.takes_back = x.policy.takes_back;
  for (const Blocker& b : x.blockers) {
    if (b.code == BlockerCode::PRIORITY || b.code == BlockerCode::NOT_YET_EXAMINED) continue;
    placement.keeps.push_back(fmt::format("{}: {}; {}", enum_name(b.code), b.message, b.cure));
  }
  const auto stands = engine.stands(w, kPlacementOptions);
  if (!stands) {
    placement.note = state.organisation
                         ? "it asks for nothing of the organisation's classes of devices"
                         : "no organisation is known, and places are of its classes of devices: "
                           "`organisation:` in fairlead.yaml";
    return placement;
  }
  placement.before = stands->before;
  placement.fits = !stands->found.empty();
  for (const Stand& stand : stands->found) {
    PlacementOption option = option_of(state, stand);
    const Stand& first = stands->found.front();
    option.because = &stand == &first ? why(stand, stands->before) : why_not(stand, first);
    placement.options.push_back(std::move(option));
  }
  if (!placement.fits) return placement;
  for (const Stand::Part& part : stands->found.front().parts)
    placement.nodes.push_back({.node = state.fleet.node(part.node).facts.name,
                               .gpus = part.devices,
                               .free_before = part.free_before});
  return placement;
}

}  // namespace

std::optional<PlacementTold> placement_of(const Engine& engine, std::string_view label) {
  Explainer explainer(engine);
  const Workload* w = explainer.find(label);
  if (w == nullptr || w->job.state != JobState::pending) return std::nullopt;
  return placement_of(engine, *w, explainer.explain(*w));
}

PlacementTold placement_of(const Engine& engine, Job job) {
  const Workload w = engine.suppose(as_submitted_now(std::move(job), engine.state().now));
  return placement_of(engine, w, Explainer(engine).explain_supposed(w));
}

}  // namespace fairlead

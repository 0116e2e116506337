// Names: what is declared, what is referred to, and the tree of teams.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/words.h"
#include "policy/catalogue.h"
#include "policy/check_parts.h"

namespace fairlead::policy {
namespace {

using lang::in_quotes;

// Every amount that is written anywhere.
void for_each_amount(const Tree& tree, const auto& f) {
  const auto limits = [&](const LimitsNode& l) {
    for (const auto* list : {&l.own, &l.lend, &l.borrow})
      for (const AmountNode& a : *list) f(a.device);
  };
  const auto team = [&](const auto& self, const TeamNode& t) -> void {
    limits(t.limits);
    for (const WindowNode& w : t.windows) limits(w.limits);
    if (t.budget && t.budget->device_hours) f(t.budget->device_hours->device);
    for (const TeamNode& child : t.teams) self(self, child);
  };
  for (const PriceNode& p : tree.prices) f(p.device);
  for (const TeamNode& t : tree.teams) team(team, t);
  for (const ClassNode& k : tree.classes)
    if (k.anywhere_up_to) f(k.anywhere_up_to->device);
  for (const TestNode& t : tree.tests) {
    for (const FleetPartNode& part : t.fleet) f(part.each.device);
    for (const WorkNode& w : t.work)
      if (w.device) f(*w.device);
  }
}

struct Declared {
  std::map<std::string, const DevicesNode*> by_name;
  std::map<std::string, const DevicesNode*> by_model;
};

Declared declared_devices(CheckContext& c) {
  Declared declared;
  std::map<std::string, Span> model_at;
  for (const DevicesNode& node : c.tree.devices) {
    const auto [first, is_first] = declared.by_name.emplace(node.name.value, &node);
    if (!is_first) {
      c.error("E811", fmt::format("there are two device classes {}", in_quotes(node.name.value)),
              {node.name.span, "second time"}, "join their models in one line",
              {{first->second->name.span, "first time"}});
    }
    for (const Word& model : node.models) {
      const auto [at, is_new] = model_at.emplace(model.value, model.span);
      if (is_new) {
        declared.by_model.emplace(model.value, &node);
      } else if (declared.by_model.at(model.value) != &node) {
        c.error("E811", fmt::format("{} can be of one device class only", in_quotes(model.value)),
                {model.span, "second time"}, "keep one of them", {{at->second, "first time"}});
      }
    }
  }
  return declared;
}

void unknown_device(CheckContext& c, const Word& name, const Declared& declared) {
  if (const auto model = declared.by_model.find(name.value); model != declared.by_model.end()) {
    const Word& counted_as = model->second->name;
    c.error(
        "E802",
        fmt::format("{} is counted as {} here", in_quotes(name.value), in_quotes(counted_as.value)),
        {name.span, ""}, fmt::format("write {}", in_quotes(counted_as.value)),
        {{model->second->head, "declared here"}});
    return;
  }
  std::vector<std::string> names;
  for (const auto& [known, node] : declared.by_name) names.push_back(known);
  for (const auto& [known, count] : c.options.fleet) names.push_back(known);
  names.insert(names.end(), known_models().begin(), known_models().end());
  const auto meant = nearest_word(name.value, names);
  c.error("E802", fmt::format("there is no device class {}", in_quotes(name.value)),
          {name.span, "unknown device class"},
          !meant.empty() ? fmt::format("did you mean {}?", in_quotes(meant))
                         : fmt::format("declare it: `devices {0} {{ {0} }}`", name.value));
}

template <class Names>
void unknown_name(CheckContext& c, const Word& name, std::string code, std::string_view what,
                  const Names& names) {
  std::vector<std::string> known;
  for (const auto& n : names) known.push_back(n.name);
  const auto meant = nearest_word(name.value, known);
  c.error(std::move(code), fmt::format("there is no {} {}", what, in_quotes(name.value)),
          {name.span, fmt::format("unknown {}", what)},
          !meant.empty()  ? fmt::format("did you mean {}?", in_quotes(meant))
          : known.empty() ? fmt::format("declare it: `{} {} {{ }}`", what, name.value)
                          : fmt::format("known: {}", fmt::join(known, ", ")));
}

std::vector<Limits> limits_of(CheckContext& c, const LimitsNode& node, std::vector<Limits> base) {
  const auto put = [&](const std::vector<AmountNode>& written, Milli Limits::* member) {
    for (const AmountNode& a : written)
      if (const auto device = c.org.device(a.device.value)) base[*device].*member = a.amount;
  };
  put(node.own, &Limits::own);
  put(node.lend, &Limits::lend);
  put(node.borrow, &Limits::borrow);
  return base;
}

Window window_of(CheckContext& c, const WindowNode& node, const Team& team) {
  return {.days = node.days,
          .begin_minute = node.begin_minute,
          .end_minute = node.end_minute,
          .zone = node.zone.value,
          .limits = limits_of(c, node.limits, team.limits),
          .weight = node.limits.weight ? node.limits.weight->value : team.weight};
}

void add_team(CheckContext& c, const TeamNode& node, TeamId parent);

void add_children(CheckContext& c, const std::vector<TeamNode>& nodes, TeamId parent) {
  std::map<std::string, const TeamNode*> by_name;
  for (const TeamNode& child : nodes) {
    const auto [first, is_first] = by_name.emplace(child.name.value, &child);
    if (is_first) continue;
    c.error("E811", fmt::format("there are two teams {} side by side", in_quotes(child.name.value)),
            {child.head, "second time"}, "give one of them another name, or join them",
            {{first->second->head, "first time"}});
  }
  for (const auto& [name, child] : by_name) add_team(c, *child, parent);
}

std::optional<Amount> resolved(const CheckContext& c, const AmountNode& node) {
  const auto device = c.org.device(node.device.value);
  if (!device) return std::nullopt;
  return Amount{*device, node.amount};
}

void add_team(CheckContext& c, const TeamNode& node, TeamId parent) {
  const auto id = static_cast<TeamId>(c.org.teams.size());
  const bool is_root = id == kRoot;
  Team team{.name = node.name.value, .path = node.name.value, .parent = parent};
  if (!is_root) {
    const Team& above = c.org.teams[parent];
    if (parent != kRoot) team.path = above.path + "/" + team.name;
    team.half_life = above.half_life;
    team.classes = above.classes;
    team.default_class = above.default_class;
  } else {
    constexpr int64_t kDefaultDays = 7;  // chosen, as Slurm's default
    team.half_life = seconds(kDefaultDays * 24 * 3600);
    for (ClassId k = 0; k < c.org.classes.size(); ++k) team.classes.push_back(k);
  }
  team.limits = limits_of(c, node.limits, std::vector<Limits>(c.org.devices.size()));
  if (node.limits.weight) team.weight = node.limits.weight->value;
  if (node.half_life) team.half_life = node.half_life->value;
  if (!node.classes.empty()) {
    team.classes.clear();
    for (const Word& word : node.classes)
      if (const auto klass = c.klass(word)) team.classes.push_back(*klass);
    std::ranges::sort(team.classes);
  }
  if (node.default_class) team.default_class = c.klass(*node.default_class);
  if (node.budget) {
    team.budget = Budget{.micro_dollars = {},
                         .device_hours = {},
                         .per = node.budget->per.value,
                         .hard = node.budget->hard};
    if (node.budget->micro_dollars) team.budget->micro_dollars = node.budget->micro_dollars->value;
    if (node.budget->device_hours)
      team.budget->device_hours = resolved(c, *node.budget->device_hours);
  }
  for (const WindowNode& window : node.windows) team.windows.push_back(window_of(c, window, team));
  c.org.teams.push_back(std::move(team));
  c.team_nodes.push_back(&node);
  add_children(c, node.teams, id);
  c.org.teams[id].end = static_cast<TeamId>(c.org.teams.size());
}

}  // namespace

std::optional<DeviceId> CheckContext::device(const Word& name) {
  return org.device(name.value);  // check_devices has told of every unknown one
}

std::optional<ClassId> CheckContext::klass(const Word& name) {
  const auto found = org.klass(name.value);
  if (!found) unknown_name(*this, name, "E808", "class", org.classes);
  return found;
}

std::optional<TeamId> CheckContext::team(const Word& path) {
  const auto found = org.team(path.value);
  if (found) return found;
  struct Path {
    std::string name;
  };
  std::vector<Path> paths;
  for (const Team& t : org.teams) paths.push_back({t.path});
  unknown_name(*this, path, "E809", "team", paths);
  return std::nullopt;
}

void check_devices(CheckContext& c) {
  const Declared declared = declared_devices(c);
  std::set<std::string> names;
  for (const auto& [name, node] : declared.by_name) names.insert(name);
  for_each_amount(c.tree, [&](const Word& name) {
    const bool model_elsewhere =
        declared.by_model.contains(name.value) && !declared.by_name.contains(name.value);
    const bool known = names.contains(name.value) || c.options.fleet.contains(name.value) ||
                       std::ranges::find(known_models(), name.value) != known_models().end();
    if (known && !model_elsewhere)
      names.insert(name.value);
    else
      unknown_device(c, name, declared);
  });
  for (const auto& [name, count] : c.options.fleet) names.insert(name);
  for (const std::string& name : names) {
    DeviceClass device{.name = name, .models = {name}};
    if (const auto node = declared.by_name.find(name); node != declared.by_name.end()) {
      device.models.clear();
      for (const Word& model : node->second->models) device.models.push_back(model.value);
      if (device.models.empty()) device.models = {name};
      std::ranges::sort(device.models);
    }
    c.org.devices.push_back(std::move(device));
  }
}

void check_prices(CheckContext& c) {
  std::map<DeviceId, Span> written;
  for (const PriceNode& node : c.tree.prices) {
    const auto device = c.device(node.device);
    if (!device) continue;
    const auto [first, is_first] = written.emplace(*device, node.device.span);
    if (!is_first)
      c.error("E811", fmt::format("there are two prices of {}", in_quotes(node.device.value)),
              {node.device.span, "second time"}, "keep one of them",
              {{first->second, "first time"}});
    c.org.devices[*device].price = node.micro_dollars.value;
  }
}

void check_classes(CheckContext& c) {
  std::map<std::string, const ClassNode*> by_name;
  for (const ClassNode& node : c.tree.classes) {
    const auto [first, is_first] = by_name.emplace(node.name.value, &node);
    if (is_first) continue;
    c.error("E811", fmt::format("there are two classes {}", in_quotes(node.name.value)),
            {node.head, "second time"}, "give one of them another name",
            {{first->second->head, "first time"}});
  }
  for (const auto& [name, node] : by_name) {
    c.org.classes.push_back(
        {.name = name, .preempts = {}, .anywhere_up_to = {}, .most_devices = {}, .most_time = {}});
    c.class_nodes.push_back(node);
  }
  for (ClassId id = 0; id < c.org.classes.size(); ++id) {
    const ClassNode& node = *c.class_nodes[id];
    Class& k = c.org.classes[id];
    if (!node.rank) {
      c.error("E106", fmt::format("class {} needs a rank", in_quotes(node.name.value)),
              {node.head, ""}, "write `rank 50`: a higher rank goes first");
    }
    k.rank = node.rank ? node.rank->value : 0;
    k.anywhere = node.anywhere.has_value();
    k.never_preempted = node.never_preempted;
    if (node.anywhere_up_to) k.anywhere_up_to = resolved(c, *node.anywhere_up_to);
    if (node.min_run) k.min_run = node.min_run->value;
    if (node.restart_cost) k.restart_cost = node.restart_cost->value;
    if (node.most) k.most_devices = node.most->value;
    if (node.most_time) k.most_time = node.most_time->value;
    for (const Word& word : node.preempts)
      if (const auto other = c.klass(word)) k.preempts.push_back(*other);
    std::ranges::sort(k.preempts);
  }
}

void check_teams(CheckContext& c) {
  if (c.tree.teams.size() == 1) return add_team(c, c.tree.teams.front(), kRoot);
  // Several at the top: a root is made, which owns what they own.
  TeamNode made;
  made.name.value = c.org.name.empty() ? "organisation" : c.org.name;
  made.head = c.tree.headers.empty() ? Span{} : c.tree.headers.front().span;
  add_team(c, made, kRoot);
  c.team_nodes[kRoot] = nullptr;
  add_children(c, c.tree.teams, kRoot);
  Team& root = c.org.teams[kRoot];
  root.end = static_cast<TeamId>(c.org.teams.size());
  for (TeamId id = 1; id < root.end; id = c.org.teams[id].end)
    for (DeviceId d = 0; d < c.org.devices.size(); ++d)
      root.limits[d].own = root.limits[d].own + c.org.teams[id].limits[d].own;
}

}  // namespace fairlead::policy

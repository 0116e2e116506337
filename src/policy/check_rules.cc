// Classes and reclaim.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/words.h"
#include "policy/check_parts.h"

namespace fairlead::policy {
namespace {

using lang::in_quotes;

// E804: walks who preempts whom, and tells of each edge that closes a circle, once.
class Circles {
 public:
  explicit Circles(CheckContext& c) : c_(c), state_(c.org.classes.size(), State::fresh) {
    for (ClassId k = 0; k < state_.size(); ++k)
      if (state_[k] == State::fresh) visit(k);
  }

 private:
  enum class State : uint8_t { fresh, on_path, done };
  struct Edge {
    ClassId from;
    const Word* word;
  };

  void visit(ClassId from) {
    state_[from] = State::on_path;
    for (const Word& word : c_.class_nodes[from]->preempts) {
      const auto to = c_.org.klass(word.value);
      if (!to) continue;
      path_.push_back({from, &word});
      if (state_[*to] == State::on_path) tell(*to);
      if (state_[*to] == State::fresh) visit(*to);
      path_.pop_back();
    }
    state_[from] = State::done;
  }

  void tell(ClassId back_to) {
    const Edge closing = path_.back();
    const std::string& name = c_.org.classes[back_to].name;
    if (closing.from == back_to) {
      c_.error("E804", fmt::format("class {} preempts itself", in_quotes(name)),
               {closing.word->span, ""}, fmt::format("delete {} here", in_quotes(name)));
      return;
    }
    std::vector<lang::Label> labels;
    std::string circle = name;
    const auto begin = std::ranges::find(path_, back_to, &Edge::from);
    for (auto edge = begin; edge != path_.end(); ++edge) {
      circle += fmt::format(", which preempts {}", in_quotes(edge->word->value));
      if (edge + 1 != path_.end()) labels.push_back({edge->word->span, "by this"});
    }
    c_.error("E804",
             fmt::format("classes preempt each other in a circle: `{}`{}", name,
                         circle.substr(name.size())),
             {closing.word->span, "and this closes it"},
             fmt::format("delete {} here", in_quotes(name)), std::move(labels));
  }

  CheckContext& c_;
  std::vector<State> state_;
  std::vector<Edge> path_;
};

// W811: no team's work may have it.
void check_unused(CheckContext& c) {
  if (c.tree.teams.empty()) return;
  std::set<ClassId> used;
  for (const Team& team : c.org.teams) used.insert(team.classes.begin(), team.classes.end());
  for (ClassId k = 0; k < c.org.classes.size(); ++k) {
    if (used.contains(k)) continue;
    const std::string& name = c.org.classes[k].name;
    c.warning("W811", fmt::format("class {} is never used: no team allows it", in_quotes(name)),
              {c.class_nodes[k]->head, ""},
              fmt::format("name it in `classes` of a team, or delete it"));
  }
}

void check_defaults(CheckContext& c) {
  for (TeamId id = 0; id < c.org.teams.size(); ++id) {
    const TeamNode* node = c.team_nodes[id];
    if (node == nullptr || !node->default_class) continue;
    const Team& team = c.org.teams[id];
    if (!team.default_class || std::ranges::binary_search(team.classes, *team.default_class))
      continue;
    c.error("E808",
            fmt::format("{} is not among the classes of team {}",
                        in_quotes(node->default_class->value), in_quotes(team.name)),
            {node->default_class->span, ""},
            fmt::format("add {} to `classes`", in_quotes(node->default_class->value)));
  }
}

}  // namespace

void check_class_use(CheckContext& c) {
  Circles{c};
  check_unused(c);
  check_defaults(c);
}

namespace {

const std::vector<std::string> kIdleKinds = {"failed-peer", "stuck", "never-used", "no-process",
                                             "used-then-idle"};

// E807: a harder act never comes before a softer one.
void check_ladder(CheckContext& c, const IdleNode& node) {
  const RungNode* softer = nullptr;
  size_t softer_at = 0;
  for (size_t i = 0; i < kRungs; ++i) {
    if (!node.rungs[i]) continue;
    const RungNode& rung = *node.rungs[i];
    if (softer != nullptr && rung.after.value < softer->after.value) {
      c.error(
          "E807",
          fmt::format("{} comes after {} and before {}, which is softer", in_quotes(kRungNames[i]),
                      lang::to_literal(rung.after.value), in_quotes(kRungNames[softer_at])),
          {rung.span, "sooner"},
          fmt::format("write `{} after {}` or later", kRungNames[i],
                      lang::to_literal(softer->after.value)),
          {{softer->span, "softer, and later"}});
    }
    softer = &rung;
    softer_at = i;
  }
}

ReclaimIdle resolved(CheckContext& c, const IdleNode& node) {
  ReclaimIdle idle;
  for (const Word& kind : node.kinds) {
    if (std::ranges::find(kIdleKinds, kind.value) == kIdleKinds.end()) {
      const auto meant = nearest_word(kind.value, kIdleKinds);
      c.error("E104", fmt::format("{} is not a kind of idle hold", in_quotes(kind.value)),
              {kind.span, ""},
              !meant.empty() ? fmt::format("did you mean {}?", in_quotes(meant))
                             : fmt::format("kinds are {}", fmt::join(kIdleKinds, ", ")));
      continue;
    }
    idle.kinds.push_back(kind.value);
  }
  std::ranges::sort(idle.kinds);
  for (const ExemptNode& exempt : node.unless)
    if (const auto klass = c.klass(exempt.klass))
      idle.unless.push_back({*klass, exempt.time.value});
  for (const auto& rung : node.rungs)
    idle.after.push_back(rung ? std::optional(rung->after.value) : std::nullopt);
  if (node.most) idle.most = Cap{node.most->most.value, node.most->per.value};
  check_ladder(c, node);
  return idle;
}

template <class Node>
void only_one(CheckContext& c, const std::vector<Node>& nodes, std::string_view what) {
  for (size_t i = 1; i < nodes.size(); ++i) {
    c.error("E105", fmt::format("`reclaim {}` is written twice", what),
            {nodes[i].head, "second time"}, "join them in one block",
            {{nodes[0].head, "first time"}});
  }
}

}  // namespace

void check_reclaim(CheckContext& c) {
  only_one(c, c.tree.idle, "idle");
  only_one(c, c.tree.for_waiting, "for-waiting");
  if (!c.tree.idle.empty()) c.org.idle = resolved(c, c.tree.idle.front());
  if (c.tree.for_waiting.empty()) return;
  const ForWaitingNode& node = c.tree.for_waiting.front();
  ReclaimForWaiting reclaim;
  if (node.wait) reclaim.wait = node.wait->value;
  if (node.ask) reclaim.ask = node.ask->value;
  if (node.most) reclaim.most = Cap{node.most->most.value, node.most->per.value};
  c.org.for_waiting = reclaim;
}

}  // namespace fairlead::policy

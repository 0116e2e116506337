// Members: who claims whom, in which order, and what tables list.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/words.h"
#include "policy/check_parts.h"
#include "policy/members_table.h"

namespace fairlead::policy {
namespace {

using lang::in_quotes;

struct Member {
  const Word* pattern;
  const MembersNode* node;
  TeamId team;
};

bool same_source(const MembersNode& a, const MembersNode& b) {
  return a.source == b.source && a.claim == b.claim;
}

// Every pattern, in the order of the files.
std::vector<Member> members_in_order(const CheckContext& c) {
  std::vector<Member> all;
  for (TeamId id = 0; id < c.org.teams.size(); ++id) {
    if (c.team_nodes[id] == nullptr) continue;
    for (const MembersNode& node : c.team_nodes[id]->members)
      for (const Word& pattern : node.patterns) all.push_back({&pattern, &node, id});
  }
  std::ranges::sort(all, {}, [](const Member& m) {
    return std::pair(m.pattern->span.file, m.pattern->span.begin);
  });
  return all;
}

// Whether everything that `inner` matches is matched by `outer` too; a `*` in `inner` is matched by
// a `*` alone, so taking it for a letter that no name has decides it.
bool covers(std::string_view outer, std::string inner) {
  std::ranges::replace(inner, '*', '\x01');
  return matches(outer, inner);
}

// E803, W814.
void check_claims(CheckContext& c, const std::vector<Member>& all) {
  for (size_t i = 0; i < all.size(); ++i) {
    const Member& m = all[i];
    if (m.node->source == MemberSource::file) continue;  // may list several teams' members
    const auto end = all.begin() + static_cast<ptrdiff_t>(i);
    auto before = std::find_if(all.begin(), end, [&](const Member& b) {
      return same_source(*b.node, *m.node) && b.pattern->value == m.pattern->value;
    });
    if (before == end) {
      before = std::find_if(all.begin(), end, [&](const Member& b) {
        return same_source(*b.node, *m.node) && covers(b.pattern->value, m.pattern->value);
      });
    }
    if (before == end) continue;
    const bool same = before->pattern->value == m.pattern->value;
    const std::string& ours = c.org.teams[m.team].path;
    const std::string& theirs = c.org.teams[before->team].path;
    if (same && before->team != m.team) {
      c.error("E803",
              fmt::format("teams {} and {} both claim \"{}\"", in_quotes(theirs), in_quotes(ours),
                          m.pattern->value),
              {m.pattern->span, "claimed again"}, "keep one of them",
              {{before->pattern->span, "claimed here"}});
    } else if (before->team != m.team) {
      c.warning("W814",
                fmt::format("\"{}\" never gets to team {}: the first match wins", m.pattern->value,
                            in_quotes(ours)),
                {m.pattern->span, "too late"},
                c.org.is_below(m.team, before->team)
                    ? fmt::format("move the `members` of {} below its teams", in_quotes(theirs))
                    : fmt::format("move team {} before {}", in_quotes(ours), in_quotes(theirs)),
                {{before->pattern->span, "matches it first"}});
    } else if (same) {
      c.error("E105",
              fmt::format("\"{}\" is written twice in team {}", m.pattern->value, in_quotes(ours)),
              {m.pattern->span, "second time"}, "keep one of them",
              {{before->pattern->span, "first time"}});
    }
  }
}

// Without a `*` before those with one; of these the one with more letters first.
std::pair<bool, int64_t> specificity(const std::string& pattern) {
  const auto stars = std::ranges::count(pattern, '*');
  return {stars > 0, stars - std::ssize(pattern)};
}

// The rows of a table as rules, in the order in which they are tried.
class TableRules {
 public:
  TableRules(CheckContext& c, const Member& named, lang::FileId file)
      : c_(c), named_(named), file_(file), odd_(c.problems) {}

  std::vector<MemberRule> read() {
    std::vector<MemberRule> rules;
    const auto table = read_members_table(c_.sources, file_, c_.problems);
    if (!table) return rules;
    for (const Team& team : c_.org.teams) paths_.push_back(team.path);
    for (const MembersRow& row : table->rows) {
      const auto team = team_of(row);
      if (!team || is_listed(row, *team)) continue;
      rules.push_back({.source = table->source,
                       .claim = table->claim,
                       .pattern = row.who.value,
                       .team = *team,
                       .table = named_.pattern->value});
    }
    // No pattern stands there twice, so the order is whole.
    std::ranges::sort(rules, {}, [](const MemberRule& rule) {
      return std::pair(specificity(rule.pattern), std::string_view(rule.pattern));
    });
    return rules;
  }

 private:
  std::optional<TeamId> team_of(const MembersRow& row) {
    if (row.team.value.empty()) return named_.team;
    const auto team = c_.org.team(row.team.value);
    if (!team) {
      const std::string meant = nearest_word(row.team.value, paths_);
      odd_.tell(
          fmt::format("there is no team {}, so this row is left out", in_quotes(row.team.value)),
          {row.team.span, "unknown team"},
          meant.empty() ? "write its path below the root, as `product/search`"
                        : fmt::format("did you mean {}?", in_quotes(meant)));
      return std::nullopt;
    }
    if (c_.org.is_below(*team, named_.team)) return team;
    odd_.tell(fmt::format("{} is not below {}, which names this table, so the row is left out",
                          in_quotes(row.team.value), in_quotes(c_.org.teams[named_.team].path)),
              {row.team.span, ""}, "name the table in a team above both",
              {{named_.pattern->span, "named here"}});
    return std::nullopt;
  }
  bool is_listed(const MembersRow& row, TeamId team) {
    const auto [first, is_first] = listed_.try_emplace(row.who.value, row.who.span, team);
    if (is_first) return false;
    if (first->second.second != team)
      odd_.tell(fmt::format("\"{}\" is listed twice, for teams {} and {}; the first counts",
                            row.who.value, in_quotes(c_.org.teams[first->second.second].path),
                            in_quotes(c_.org.teams[team].path)),
                {row.who.span, "second time"}, "delete one of the two rows",
                {{first->second.first, "first time"}});
    return true;
  }

  CheckContext& c_;
  const Member& named_;
  lang::FileId file_;
  OddRows odd_;
  std::vector<std::string> paths_;
  std::map<std::string, std::pair<Span, TeamId>> listed_;
};

void add_table(CheckContext& c, const Member& m) {
  if (!c.options.tables) return;
  const std::string path =
      table_path(c.sources.file(m.pattern->span.file).name(), m.pattern->value);
  const auto table = c.options.tables->find(path);
  if (table == c.options.tables->end()) {
    c.error("E814", fmt::format("the table {} cannot be read", in_quotes(m.pattern->value)),
            {m.pattern->span, ""}, fmt::format("is {} there, and may this user read it?", path));
    return;
  }
  for (MemberRule& rule : TableRules(c, m, table->second).read())
    c.org.members.push_back(std::move(rule));
}

}  // namespace

std::string table_path(std::string_view policy_file, const std::string& written) {
  if (written.starts_with('/')) return written;
  const size_t slash = policy_file.rfind('/');
  return std::string(policy_file.substr(0, slash == policy_file.npos ? 0 : slash + 1)) + written;
}

std::vector<std::string> tables_named(const lang::Sources& sources, const Tree& tree) {
  std::set<std::string> names;
  const auto walk = [&](const auto& self, const std::vector<TeamNode>& teams) -> void {
    for (const TeamNode& team : teams) {
      for (const MembersNode& node : team.members) {
        if (node.source != MemberSource::file) continue;
        for (const Word& name : node.patterns)
          names.insert(table_path(sources.file(name.span.file).name(), name.value));
      }
      self(self, team.teams);
    }
  };
  walk(walk, tree.teams);
  return {names.begin(), names.end()};
}

void check_members(CheckContext& c) {
  std::vector<Member> all = members_in_order(c);
  check_claims(c, all);
  for (auto line = all.begin(); line != all.end();) {
    const auto end =
        std::find_if(line, all.end(), [&](const Member& m) { return m.node != line->node; });
    std::sort(line, end, [](const Member& a, const Member& b) {
      return std::pair(specificity(a.pattern->value), a.pattern->span.begin) <
             std::pair(specificity(b.pattern->value), b.pattern->span.begin);
    });
    for (; line != end; ++line) {
      if (line->node->source == MemberSource::file)
        add_table(c, *line);
      else
        c.org.members.push_back({.source = line->node->source,
                                 .claim = line->node->claim,
                                 .pattern = line->pattern->value,
                                 .team = line->team,
                                 .table = {}});
    }
  }
}

}  // namespace fairlead::policy

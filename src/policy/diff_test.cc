#include "policy/diff.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "policy/check.h"

namespace fairlead::policy {
namespace {

constexpr std::string_view kAcme = R"(org acme v7
lang 1
class prod  { rank 100  preempts batch }
class batch { rank 10 }
team acme {
  own 16 H100
  team a {
    own     8 H100
    members slurm account "a"
    during  mon..fri 08:00..20:00 UTC { own 4 H100 }
  }
  team b { budget 100 H100 h per 30d soft }
}
reclaim idle { notify after 10m }
)";

Organisation organisation_of(std::string_view text) {
  lang::Sources sources;
  sources.add("acme.policy", std::string(text));
  Checked checked = check_files(sources, {});
  for (const auto& problem : checked.problems)
    if (problem.severity == lang::Severity::error) ADD_FAILURE() << to_text(problem, sources);
  return std::move(checked.organisation);
}

struct Row {
  std::string_view name;
  std::vector<std::pair<std::string_view, std::string_view>> edits;
  std::vector<PolicyChange> want;
};

TEST(Diff, EachStatementIsComparedByItself) {
  using enum ChangeKind;
  const Row rows[] = {
      {"nothing", {}, {}},
      {"another layout and order",
       {{"team acme {\n  own 16 H100", "team acme { own 16 H100"},
        {"class batch { rank 10 }\n", ""},
        {"reclaim idle", "class batch { rank 10 }\nreclaim idle"}},
       {}},
      {"own", {{"own     8 H100", "own 6 H100"}}, {{changed, "team a", "own H100", "8", "6"}}},
      {"a limit that was not there",
       {{"own     8 H100", "own 8 H100\n lend 2 H100\n borrow 3 H100\n weight 2"}},
       {{added, "team a", "borrow H100", "", "3"},
        {added, "team a", "lend H100", "", "2"},
        {changed, "team a", "weight", "1", "2"}}},
      {"members",
       {{"account \"a\"", "account \"a\", \"b\""}},
       {{changed, "team a", "members slurm account", "\"a\"", "\"a\", \"b\""}}},
      {"a calendar",
       {{"{ own 4 H100 }", "{ own 5 H100 }"}},
       {{changed, "team a", "during mon..fri 08:00..20:00 UTC", "own H100 4", "own H100 5"}}},
      {"a budget",
       {{"30d soft", "30d hard"}},
       {{changed, "team b", "budget", "100 H100 h per 30d soft", "100 H100 h per 30d hard"}}},
      {"a class",
       {{"rank 10 }", "rank 20  min-run 5m }"}},
       {{added, "class batch", "min-run", "", "5m"}, {changed, "class batch", "rank", "10", "20"}}},
      {"reclaim",
       {{"notify after 10m", "requeue after 20m"}},
       {{removed, "reclaim idle", "notify", "after 10m", ""},
        {added, "reclaim idle", "requeue", "", "after 20m"}}},
      {"the version", {{"acme v7", "acme v8"}}, {{changed, "organisation", "version", "v7", "v8"}}},
      {"a team that goes and one that comes",
       {{"team b {", "team c {"}},
       {{removed, "team b", "", "", ""},
        {removed, "team b", "budget", "100 H100 h per 30d soft", ""},
        {removed, "team b", "weight", "1", ""},
        {added, "team c", "", "", ""},
        {added, "team c", "budget", "", "100 H100 h per 30d soft"},
        {added, "team c", "weight", "", "1"}}},
  };
  const Organisation before = organisation_of(kAcme);
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    std::string text(kAcme);
    for (const auto& [from, to] : row.edits) {
      ASSERT_TRUE(text.contains(from)) << from;
      text.replace(text.find(from), from.size(), to);
    }
    const auto got = changes_between(before, organisation_of(text));
    EXPECT_EQ(got, row.want);
    for (const PolicyChange& c : got)
      if (!(std::ranges::find(row.want, c) != row.want.end()))
        ADD_FAILURE() << c.subject << "; " << c.what << "; " << c.before << "; " << c.after;
    EXPECT_EQ(changes_between(organisation_of(text), before).size(), row.want.size());
  }
}

}  // namespace
}  // namespace fairlead::policy

#include "policy/identity.h"

#include <gtest/gtest.h>

#include "policy/check.h"

namespace fairlead::policy {
namespace {

constexpr std::string_view kAcme = R"(org acme v1
lang 1
class prod  { rank 100 }
class batch { rank 10 }
class spot  { rank 1 }
team acme {
  own 8 H100
  team product {
    own     4 H100
    classes prod, batch
    default class batch
    members slurm account "prod-*", "prod-search", "*-prod"
    members kubernetes namespace "prod-*"
    members kubernetes label "team=product"
    members group "ml-product"
    team search { members slurm account "search*" }
  }
  team research {
    members slurm account "research"
    members slurm user "ana"
    members slurm qos "research-qos"
    members slurm partition "debug"
    members claim department "ml"
    members file "teams.csv"
    default class spot
  }
  team late {
    members slurm account "*"
    members slurm user "bob"
  }
}
)";
constexpr std::string_view kTeams = "user,team\ncy*,research\ncyd,research\n";

Directory directory_of(std::string_view text, std::string_view table) {
  lang::Sources sources;
  sources.add("acme.policy", std::string(text));
  CheckOptions options;
  options.tables.emplace();
  options.tables->emplace("teams.csv", sources.add("teams.csv", std::string(table)));
  const Checked checked = check_files(sources, options);
  for (const auto& problem : checked.problems)
    if (problem.severity == lang::Severity::error) ADD_FAILURE() << to_text(problem, sources);
  return Directory(checked.organisation, {{"ml-product", {"eve", "ana"}}, {"other", {"eve"}}});
}

struct TeamRow {
  std::string_view name;
  std::vector<Identity> identities;
  std::string_view want;  // empty: nobody's
};

TEST(Directory, TheFirstRuleOfTheFilesThatMatchesDecides) {
  using enum MemberSource;
  const TeamRow rows[] = {
      {"an account by its name", {{slurm_account, "", "research"}}, "research"},
      {"an account by a pattern", {{slurm_account, "", "prod-ads"}}, "product"},
      {"a star stands for nothing, too", {{slurm_account, "", "search"}}, "product/search"},
      {"a star at the front", {{slurm_account, "", "web-prod"}}, "product"},
      {"letters count: Slurm's accounts are of small ones",
       {{slurm_account, "", "Research"}},
       "late"},
      {"an account before a user, where its line is first",
       {{slurm_user, "", "ana"}, {slurm_account, "", "prod-ads"}},
       "product"},
      {"the order of what the platform says is of no account",
       {{slurm_account, "", "prod-ads"}, {slurm_user, "", "ana"}},
       "product"},
      {"a user where the account is everybody's",
       {{slurm_account, "", "guests"}, {slurm_user, "", "ana"}},
       "research"},
      {"a line that comes later does not count",
       {{slurm_account, "", "guests"}, {slurm_user, "", "bob"}},
       "late"},
      {"a QOS", {{slurm_qos, "", "research-qos"}}, "research"},
      {"one of several partitions",
       {{slurm_partition, "", "gpu"}, {slurm_partition, "", "debug"}},
       "research"},
      {"a namespace", {{kubernetes_namespace, "", "prod-web"}}, "product"},
      {"a label", {{kubernetes_label, "", "team=product"}}, "product"},
      {"a label's name alone is none", {{kubernetes_label, "", "team"}}, ""},
      {"a group", {{group, "", "ml-product"}}, "product"},
      {"a claim", {{claim, "department", "ml"}}, "research"},
      {"another claim of that value", {{claim, "office", "ml"}}, ""},
      {"a user of a table", {{slurm_user, "", "cyd"}}, "research"},
      {"a user by a pattern of a table", {{slurm_user, "", "cyrus"}}, "research"},
      {"a name that is another source's", {{slurm_user, "", "research"}}, ""},
      {"nothing is said", {}, ""},
      {"an empty name", {{slurm_user, "", ""}}, ""},
      {"a name that looks like a pattern", {{slurm_user, "", "*"}}, ""},
      {"a name of other letters", {{slurm_user, "", "ana\xcc\x81"}}, ""},
      {"a name with a zero byte", {{slurm_user, "", std::string("ana\0x", 5)}}, ""},
      {"a very long name", {{slurm_user, "", std::string(100'000, 'c')}}, ""},
  };
  const Directory directory = directory_of(kAcme, kTeams);
  for (const TeamRow& row : rows) {
    SCOPED_TRACE(row.name);
    const auto team = directory.find({row.identities, {}}).team;
    EXPECT_EQ(team ? directory.organisation().teams[*team].path : "", row.want);
  }
}

TEST(Directory, InsideALineTheMostSpecificPatternComesFirst) {
  const Directory directory = directory_of(
      "org a v1\nlang 1\nteam a {\n  members file \"teams.csv\"\n  team x { }\n"
      "  team y { }\n  team z { }\n}\n",
      "user,team\n*,x\nan*,y\nana,z\nanb*,z\n");
  const auto team_of = [&](const char* user) {
    return directory.organisation()
        .teams.at(*directory.find({{{MemberSource::slurm_user, "", user}}, {}}).team)
        .path;
  };
  EXPECT_EQ(team_of("ana"), "z");
  EXPECT_EQ(team_of("andy"), "y");
  EXPECT_EQ(team_of("anbo"), "z");
  EXPECT_EQ(team_of("bob"), "x");
}

TEST(Directory, GroupsAreThoseOfTheUser) {
  const Directory directory = directory_of(kAcme, kTeams);
  EXPECT_EQ(directory.groups_of("eve"), (std::vector<std::string>{"ml-product", "other"}));
  EXPECT_TRUE(directory.groups_of("bob").empty());
}

struct ClassRow {
  std::string_view name;
  std::string_view account = "research";
  std::vector<ClassWord> words;
  std::string_view want;  // empty: none
  std::vector<Slip> slips = {};
};

TEST(Directory, TheClassIsThePlatformsWordWhereTheTeamMayHaveIt) {
  const ClassRow rows[] = {
      {.name = "the QOS", .words = {{"prod"}, {"gpu"}}, .want = "prod"},
      {.name = "the partition, where the QOS is no class",
       .words = {{"normal"}, {"batch"}},
       .want = "batch"},
      {.name = "the team's default, where neither is",
       .words = {{"normal"}, {"gpu"}},
       .want = "spot"},
      {.name = "the default, where nothing is said", .words = {}, .want = "spot"},
      {.name = "a team without a default", .account = "guests", .words = {{"normal"}}, .want = ""},
      {.name = "a class that the team may not have",
       .account = "prod-x",
       .words = {{"spot"}},
       .want = "batch",
       .slips = {{SlipKind::class_not_allowed, "spot", "batch"}}},
      {.name = "the next word, where the first may not be",
       .account = "prod-x",
       .words = {{"spot"}, {"prod"}},
       .want = "prod",
       .slips = {{SlipKind::class_not_allowed, "spot", "prod"}}},
      {.name = "a slip of the pen",
       .words = {{"bacth", false}},
       .want = "spot",
       .slips = {{SlipKind::class_unknown, "bacth", "batch"}}},
      {.name = "a QOS that the platform has is no slip", .words = {{"bacth"}}, .want = "spot"},
      {.name = "an unknown word that is near nothing", .words = {{"xyzzy", false}}, .want = "spot"},
  };
  const Directory directory = directory_of(kAcme, kTeams);
  for (const ClassRow& row : rows) {
    SCOPED_TRACE(row.name);
    const Belonging found =
        directory.find({{{MemberSource::slurm_account, "", std::string(row.account)}}, row.words});
    EXPECT_EQ(found.klass ? directory.organisation().classes[*found.klass].name : "", row.want);
    EXPECT_EQ(found.slips, row.slips);
  }
}

TEST(Directory, AnAccountNearOneThatIsClaimedIsASlip) {
  const Directory directory = directory_of(
      "org a v1\nlang 1\nteam a {\n  team x { members slurm account \"research\", \"prod-*\" "
      "}\n}\n",
      "");
  const auto slips_of = [&](const char* account) {
    return directory.find({{{MemberSource::slurm_account, "", account}}, {}}).slips;
  };
  EXPECT_EQ(slips_of("reserch"), (std::vector<Slip>{{SlipKind::account, "reserch", "research"}}));
  EXPECT_TRUE(slips_of("research").empty());
  EXPECT_TRUE(slips_of("guests").empty()) << "near nothing: nobody's, and no slip";
}

}  // namespace
}  // namespace fairlead::policy

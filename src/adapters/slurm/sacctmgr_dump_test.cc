#include "adapters/slurm/sacctmgr_dump.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace fairlead::slurm {
namespace {

std::string parent_of(const SacctmgrDump& dump, std::string_view account) {
  const auto find = [&](auto&& is) { return std::ranges::find_if(dump.associations, is); };
  const auto own =
      find([&](const Association& a) { return a.user.empty() && a.account == account; });
  if (own == dump.associations.end()) return "(missing)";
  const auto parent = find([&](const Association& a) { return a.id == own->parent; });
  return parent == dump.associations.end() ? "" : parent->account;
}

struct Row {
  std::string_view name;
  std::string text;
  std::string_view vision_is_below;
};

TEST(SacctmgrDump, AccountsHangWhereTheTextSays) {
  const Row rows[] = {
      {"a tree",
       "Cluster|Account|User|Partition|Share|GrpTRES|QOS\n"
       "lab|root|||1||normal\nlab| research|||30||batch,spot\nlab|  vision|||50|gres/gpu=64|spot\n"
       "lab|  vision|alice||10||spot\nlab| product|||70||\n",
       "research"},
      {"named parents",
       "Cluster|Account|User|Share|GrpTRES|Par Name\n"
       "lab|vision||50|gres/gpu=64|research\nlab|research||30||root\nlab|root||1||\n",
       "research"},
      {"neither",
       "Cluster|Account|User|Share|GrpTRES\nlab|research||30|\nlab|vision||50|gres/gpu=64\n", ""},
      {"line ends of another system, and another cluster",
       "Cluster|Account|User|Share|GrpTRES|Par Name\r\n"
       "lab|vision||50|gres/gpu=64|research\r\nlab|research||30||\r\nother|vision||1||\r\n",
       "research"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    SacctmgrDump dump;
    const auto added = add_sacctmgr_dump(dump, row.text, "assoc.txt");
    ASSERT_TRUE(added) << to_text(added.error());
    EXPECT_EQ(dump.cluster, "lab");
    EXPECT_EQ(parent_of(dump, "vision"), row.vision_is_below);
    const auto vision = std::ranges::find(dump.associations, "vision", &Association::account);
    EXPECT_EQ(vision->shares, 50);
    EXPECT_EQ(vision->limits.tres_group.at("gres/gpu"), 64);
  }
}

TEST(SacctmgrDump, WhatIsNoDumpIsRefusedWithItsPlace) {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"", "assoc.txt is empty"},
      {"\n\n", "assoc.txt is empty"},
      {"org acme v1\n", "this is no output of"},
      {"Cluster|Account|User|Share\nlab|x\n", "this line has 2 columns, and there are 4 titles"},
  };
  for (const auto& [text, want] : rows) {
    SacctmgrDump dump;
    const auto added = add_sacctmgr_dump(dump, text, "assoc.txt");
    ASSERT_FALSE(added) << text;
    EXPECT_TRUE(added.error().message.contains(want)) << added.error().message;
  }
}

}  // namespace
}  // namespace fairlead::slurm

#include "base/hostlist.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace fairlead {
namespace {

using Names = std::vector<std::string>;

struct ExpandRow {
  std::string_view name;
  std::string_view text;
  Names want;
};

TEST(Hostlist, ExpandsBrackets) {
  const ExpandRow rows[] = {
      {.name = "nothing", .text = "", .want = {}},
      {.name = "plain names", .text = "a,b1", .want = {"a", "b1"}},
      {.name = "leading zeros stay", .text = "n[008-010]", .want = {"n008", "n009", "n010"}},
      {.name = "a prefix of another name", .text = "r1,r10", .want = {"r1", "r10"}},
      {.name = "two groups", .text = "r[1-2]n[1,3]", .want = {"r1n1", "r1n3", "r2n1", "r2n3"}},
      {.name = "a tail", .text = "n[1-2]-ib", .want = {"n1-ib", "n2-ib"}},
  };
  for (const ExpandRow& row : rows) {
    SCOPED_TRACE(row.name);
    const auto got = expand_hostlist(row.text);
    ASSERT_TRUE(got.has_value());
    EXPECT_EQ(*got, row.want);
  }
}

TEST(Hostlist, RefusesWhatIsNone) {
  for (const char* text :
       {"n[", "n]", "n[1-", "n[2-1]", "n[a]", ",", "a,,b", "n[[1]]", "n[0-99999999999]", "n[]"}) {
    const auto got = expand_hostlist(text);
    ASSERT_FALSE(got.has_value()) << text;
    EXPECT_EQ(got.error().code, "hostlist-bad") << text;
  }
}

TEST(Hostlist, Folds) {
  EXPECT_EQ(fold_hostlist({"n1", "n2", "n4"}), "n[1-2,4]");
  EXPECT_EQ(fold_hostlist({"n001"}), "n001");
  EXPECT_EQ(fold_hostlist({"r1", "r10"}), "r1,r10");
  EXPECT_EQ(fold_hostlist({"login", "n9", "n10"}), "login,n9,n10");
}

RC_GTEST_PROP(Hostlist, FoldingLosesNothing, (const std::vector<uint16_t>& numbers, bool padded)) {
  Names names;
  for (const uint16_t n : numbers) {
    names.push_back((n % 3 == 0 ? "r" : "n") +
                    (padded ? std::to_string(100000 + n) : std::to_string(n)));
  }
  const auto back = expand_hostlist(fold_hostlist(names));
  RC_ASSERT(back.has_value());
  RC_ASSERT(*back == names);
}

}  // namespace
}  // namespace fairlead

#include "base/words.h"

#include <gtest/gtest.h>

namespace fairlead {
namespace {

TEST(Words, OneAndMany) {
  EXPECT_EQ(plural(1, "hour"), "1 hour");
  EXPECT_EQ(plural(0, "hour"), "0 hours");
  EXPECT_EQ(plural(1234, "GPU"), "1,234 GPUs");
  EXPECT_EQ(plural(2, "switch"), "2 switches");
  EXPECT_EQ(plural(2, "class"), "2 classes");
}

struct NearestRow {
  std::string_view name, word, want;
};

TEST(Words, KnowTheWordThatWasMeant) {
  const std::vector<std::string> known = {"report", "replay", "queue", "site",
                                          "since",  "A10",    "A100"};
  const NearestRow rows[] = {
      {"one letter too few", "repot", "report"},
      {"two letters swapped", "rpelay", "replay"},
      {"swapped is nearer than two changes", "sicne", "since"},
      {"something else", "dance", ""},
      {"case alone is half a slip", "a10", "A10"},
      {"so is a letter that looks the same", "A10O", "A100"},
      {"a short word half of which is another", "sjtx", ""},
      {"nothing", "", ""},
      {"as many changes as letters", "abc", ""},
      {"a very long word",
       std::string_view("reportreportreportreportreportreportreportreportrepo"
                        "rtreportreport"),
       ""},
  };
  for (const NearestRow& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(nearest_word(row.word, known), row.want);
  }
  EXPECT_EQ(hint_for_unknown("repot", known), "did you mean 'report'?");
  EXPECT_EQ(hint_for_unknown("dance", known),
            "known: report, replay, queue, site, since, A10, A100");
  EXPECT_EQ(nearest_word("x", {}), "");
}

}  // namespace
}  // namespace fairlead

#include "base/nearest.h"

#include <gtest/gtest.h>

#include <vector>

namespace fairlead {
namespace {

struct NearestRow {
  std::string_view name;
  std::string_view typed;
  std::vector<std::string> names;
  std::optional<std::string> want;
};

TEST(Nearest, NamesWhatWasProbablyMeant) {
  const NearestRow rows[] = {
      {"a letter left out", "listn", {"store", "listen"}, "listen"},
      {"two neighbours swapped are one slip", "onw", {"lend", "own"}, "own"},
      {"case alone is close, however short", "h100", {"A100", "H100"}, "H100"},
      {"a letter that looks the same is close", "A10O", {"A10", "A100"}, "A100"},
      {"a short word allows one slip", "lend", {"limit", "loan"}, std::nullopt},
      {"nothing near is no guess", "wibble", {"own", "lend"}, std::nullopt},
      {"the first of equals", "cat", {"bat", "hat"}, "bat"},
      {"no names", "cat", {}, std::nullopt},
  };
  for (const NearestRow& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(nearest_name(row.typed, row.names), row.want);
  }
}

TEST(Nearest, CountsEdits) {
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("abcd", "abdc"), 1u);
  EXPECT_EQ(edit_distance("same", "same"), 0u);
}

}  // namespace
}  // namespace fairlead

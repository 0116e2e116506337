#include "views/window.h"

#include <gtest/gtest.h>

namespace fairlead {
namespace {

struct SinceRow {
  std::string_view text;
  std::string_view want;  // empty: refused
};

TEST(Window, BeginsWhereItIsSaid) {
  const Instant now = *parse_rfc3339("2026-11-30T10:00:00Z");
  const SinceRow rows[] = {
      {"2h", "2026-11-30T08:00:00Z"},
      {"7d", "2026-11-23T10:00:00Z"},
      {"2026-11-29", "2026-11-29T00:00:00Z"},
      {"2026-11-29T03:00:00Z", "2026-11-29T03:00:00Z"},
      {"2026-11-29T03:00:00+01:00", "2026-11-29T02:00:00Z"},
      {"nonsense", ""},
      {"2026-13-01", ""},
      {"2026-1-1", ""},
      {"-2h", ""},
  };
  for (const SinceRow& row : rows) {
    SCOPED_TRACE(row.text);
    const auto got = since_of(row.text, now);
    EXPECT_EQ(got ? to_rfc3339(*got) : "", row.want);
  }
  EXPECT_FALSE(since_of("", now)->known());
  EXPECT_FALSE(since_of("200d", instant_of_seconds(3600))->known());  // before all time
}

TEST(Since, TheFutureIsNoBeginning) {
  const Instant now = instant_of_seconds(1'796'000'000);
  EXPECT_EQ(since_of("2030-01-01", now).error().code, "since-bad");
  EXPECT_EQ(since_of("2030-01-01T00:00:00Z", now).error().code, "since-bad");
  EXPECT_TRUE(since_of(to_rfc3339(now), now).has_value());
}

}  // namespace
}  // namespace fairlead

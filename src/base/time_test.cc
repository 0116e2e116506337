#include "base/time.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace fairlead {
namespace {

struct ShortTextRow {
  std::string_view name;
  Duration duration;
  std::string_view want;
};

constexpr ShortTextRow kShortTextRows[] = {
    {.name = "nothing", .duration = {}, .want = "0s"},
    {.name = "less than a second", .duration = {5000}, .want = "5ms"},
    {.name = "two units at most", .duration = seconds(2 * 3600 + 14 * 60 + 9), .want = "2h14m"},
    {.name = "a zero unit in between is left out", .duration = seconds(86400 + 5), .want = "1d"},
    {.name = "below zero", .duration = seconds(-90), .want = "-1m30s"},
};

TEST(Duration, IsShownInTwoUnits) {
  for (const ShortTextRow& row : kShortTextRows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(to_short_text(row.duration), row.want);
  }
}

TEST(Duration, IsReadBack) {
  EXPECT_EQ(parse_duration("7d"), seconds(7 * 86400));
  EXPECT_EQ(parse_duration("2h14m"), seconds(2 * 3600 + 14 * 60));
  EXPECT_EQ(parse_duration("10"), seconds(10));
  for (const char* bad : {"", "x", "5y", "-3s", "99999999999999999999", "9999999999w"}) {
    EXPECT_EQ(parse_duration(bad), std::nullopt) << bad;
  }
}

TEST(Instant, ReadsWhatOthersWrite) {
  const Instant want = instant_of_seconds(1'796'025'540);
  EXPECT_EQ(to_rfc3339(want), "2026-11-30T07:59:00Z");
  EXPECT_EQ(parse_rfc3339("2026-11-30T07:59:00Z"), want);
  EXPECT_EQ(parse_rfc3339("2026-11-30 09:59:00+02:00"), want);
  EXPECT_EQ(parse_rfc3339("2026-11-30T07:59:00.25Z"), want + Duration{250'000});
  for (const char* bad : {"", "2026", "2026-13-01T00:00:00Z", "2026-11-30T08:59:00Zx", "N/A"}) {
    EXPECT_EQ(parse_rfc3339(bad), std::nullopt) << bad;
  }
}

RC_GTEST_PROP(Instant, TextRoundTrips, ()) {
  const Instant at{*rc::gen::inRange<int64_t>(0, 4'000'000'000'000'000)};
  RC_ASSERT(parse_rfc3339(to_rfc3339(at)) == at);
}

}  // namespace
}  // namespace fairlead

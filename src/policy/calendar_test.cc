#include "policy/calendar.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <ctime>
#include <fstream>
#include <sstream>

#include "policy/check.h"
#include "policy/week.h"

namespace fairlead::policy {
namespace {

Instant at(const char* text) { return *parse_rfc3339(text); }

std::string big_endian(int64_t value, size_t size) {
  std::string bytes;
  for (size_t i = size; i-- > 0;) bytes += static_cast<char>(value >> (8 * i));
  return bytes;
}

// A file of version 2 with one type and a rule, as a zone that has had no other time.
std::string tzif(int32_t offset, const std::string& rule) {
  const std::string head = std::string("TZif2") + std::string(15, '\0');
  const auto part = [&](int64_t offset_there) {
    std::string counts;
    for (const int64_t count : {0, 0, 0, 0, 1, 4}) counts += big_endian(count, 4);
    return head + counts + big_endian(offset_there, 4) + std::string("\0\0", 2) + "ABC" +
           std::string(1, '\0');
  };
  return part(0) + part(offset) + "\n" + rule + "\n";
}

struct RuleRow {
  const char* name;
  const char* rule;
  const char* at;
  int64_t want_minutes;
};

TEST(Zone, FollowsTheRuleAtTheEndOfItsFile) {
  const char* const kBerlin = "CET-1CEST,M3.5.0,M10.5.0/3";
  const RuleRow rows[] = {
      {"winter", kBerlin, "2026-01-15T12:00:00Z", 60},
      {"a second before summer time", kBerlin, "2026-03-29T00:59:59Z", 60},
      {"summer time begins on the last Sunday of March", kBerlin, "2026-03-29T01:00:00Z", 120},
      {"a second before it ends", kBerlin, "2026-10-25T00:59:59Z", 120},
      {"it ends on the last Sunday of October", kBerlin, "2026-10-25T01:00:00Z", 60},
      {"summer in the south goes over the new year", "AEST-10AEDT,M10.1.0,M4.1.0/3",
       "2026-01-15T12:00:00Z", 11 * 60},
      {"and winter is in July", "AEST-10AEDT,M10.1.0,M4.1.0/3", "2026-07-15T12:00:00Z", 10 * 60},
      {"names in brackets, no summer", "<+0330>-3:30", "2026-07-15T12:00:00Z", 210},
      {"west of Greenwich", "EST5EDT,M3.2.0,M11.1.0", "2026-07-15T12:00:00Z", -240},
      {"days of the year without February 29", "AAA0BBB,J60,J300", "2024-03-01T03:00:00Z", 60},
  };
  for (const RuleRow& row : rows) {
    SCOPED_TRACE(row.name);
    const auto zone = Zone::read(tzif(0, row.rule));
    ASSERT_TRUE(zone) << zone.error().message;
    EXPECT_EQ(zone->offset_seconds(at(row.at)), row.want_minutes * 60);
  }
}

TEST(Zone, RefusesWhatIsNoZone) {
  const std::string good = tzif(3600, "CET-1");
  ASSERT_TRUE(Zone::read(good));
  for (const size_t size : {size_t{0}, size_t{3}, size_t{20}, size_t{50}, good.size() - 12})
    EXPECT_FALSE(Zone::read(good.substr(0, size))) << size;
  EXPECT_FALSE(Zone::read(tzif(0, "CET-1CEST,M13.5.0,M10.5.0")));
  EXPECT_FALSE(Zone::read(tzif(0, "nonsense")));
}

// Against the system's own reader of the same files.
TEST(Zone, AgreesWithTheSystem) {
  for (const char* name : {"Europe/Berlin", "America/New_York", "Australia/Sydney", "Asia/Tehran",
                           "Africa/Casablanca", "Europe/Dublin", "Asia/Kolkata", "UTC"}) {
    std::ifstream file(std::string("/usr/share/zoneinfo/") + name, std::ios::binary);
    std::stringstream bytes;
    if (!file || !(bytes << file.rdbuf())) GTEST_SKIP() << "this machine has no zones";
    const auto zone = Zone::read(bytes.str());
    ASSERT_TRUE(zone) << name;
    ::setenv("TZ", name, 1);
    ::tzset();
    for (int64_t s = 0; s < int64_t{80} * 365 * 24 * 3600; s += 1'234'567) {  // to the year 2050
      const auto time = static_cast<std::time_t>(s);
      std::tm local{};
      ::localtime_r(&time, &local);
      ASSERT_EQ(zone->offset_seconds(instant_of_seconds(s)), local.tm_gmtoff) << name << " " << s;
    }
  }
  ::unsetenv("TZ");
  ::tzset();
}

TEST(Calendar, OpensAndClosesByLocalTime) {
  lang::Sources sources;
  sources.add("acme.policy",
              "org acme v1\nlang 1\nteam acme {\n  own 256 H100\n"
              "  during mon..fri 08:00..20:00 Europe/Berlin { own 128 H100  weight 3 }\n"
              "  during sun 22:00..02:00 Europe/Berlin { own 64 H100 }\n}\n");
  const Checked checked = check_files(sources, {});
  ASSERT_TRUE(checked.good());
  const Organisation& org = checked.organisation;
  EXPECT_EQ(zones_of(org), (std::vector<std::string>{"Europe/Berlin"}));
  const Zones zones{{"Europe/Berlin", *Zone::read(tzif(0, "CET-1CEST,M3.5.0,M10.5.0/3"))}};
  const std::tuple<const char*, const char*, int64_t, int64_t> rows[] = {
      {"Monday before eight in summer", "2026-06-01T05:59:59Z", 256, 1},
      {"Monday at eight in summer", "2026-06-01T06:00:00Z", 128, 3},
      {"Monday at eight in winter", "2026-01-05T07:00:00Z", 128, 3},
      {"Friday at eight in the evening it is over", "2026-06-05T18:00:00Z", 256, 1},
      {"Saturday", "2026-06-06T10:00:00Z", 256, 1},
      {"Sunday night goes on into Monday", "2026-06-07T23:59:00Z", 64, 1},
      {"and ends there", "2026-06-08T00:00:00Z", 256, 1},
  };
  Quota quota(org);
  for (const auto& [name, when, own, weight] : rows) {
    SCOPED_TRACE(name);
    follow_calendar(org, zones, at(when), quota);
    EXPECT_EQ(to_text(quota.limits(kRoot, 0).own), to_text(devices(own)));
    EXPECT_EQ(weight_at(org.teams[kRoot], zones, at(when)), weight);
  }
  EXPECT_EQ(open_window(org.teams[kRoot], {}, at("2026-06-01T10:00:00Z")), nullptr)
      << "a zone that nobody gave";
}

// Two windows overlap where some minute of the week is in both.
RC_GTEST_PROP(Week, OverlapIsACommonMinute, ()) {
  const auto any = [] {
    return Opening{.days = *rc::gen::inRange<uint8_t>(1, 128),
                   .begin_minute = *rc::gen::inRange(0, kMinutesOfDay),
                   .end_minute = *rc::gen::inRange(1, kMinutesOfDay + 1)};
  };
  const Opening a = any(), b = any();
  bool common = false;
  for (int minute = 0; minute < kMinutesOfWeek; ++minute)
    common = common || (is_open(a, minute) && is_open(b, minute));
  RC_ASSERT(overlap(a, b) == common);
}

}  // namespace
}  // namespace fairlead::policy

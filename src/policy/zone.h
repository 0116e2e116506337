// A time zone, from the bytes of its file (TZif, RFC 9636): the offset of local time at an instant.
//
// The bytes come from outside, so that the same bytes give the same decision on every machine. Past
// the last transition of the table the rule at the end of the file holds (POSIX TZ, as in
// `CET-1CEST,M3.5.0,M10.5.0/3`).
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace fairlead::policy {

class Zone {
 public:
  static Zone utc() { return {}; }

  // Fails with zone-broken.
  static Result<Zone> read(std::string_view tzif);

  int64_t offset_seconds(Instant at) const;  // east of Greenwich is above zero

 private:
  struct Transition {
    int64_t at = 0;  // seconds since 1970
    int32_t offset = 0;
  };
  struct Change {  // of the rule: month, week and weekday, or a day of the year
    enum class Kind : uint8_t { weekday, julian, zero_based } kind = Kind::weekday;
    int month = 0, week = 0, day = 0;
    int64_t seconds = 2 * 3600;  // local time of the change
  };
  struct Rule {
    int32_t standard = 0, summer = 0;
    bool has_summer = false;
    Change to_summer, to_standard;
  };
  friend class RuleReader;
  static int64_t change_seconds(int year, const Change& change);
  int64_t by_rule(int64_t seconds) const;

  std::vector<Transition> transitions_;  // by time
  int32_t first_offset_ = 0;             // before the first transition
  std::optional<Rule> rule_;
};

}  // namespace fairlead::policy

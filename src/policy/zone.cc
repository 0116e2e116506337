#include "policy/zone.h"

#include <algorithm>

namespace fairlead::policy {
namespace {

constexpr int64_t kDaySeconds = 24 * 3600;

// Big-endian numbers; a read past the end is remembered and gives zero.
class Bytes {
 public:
  explicit Bytes(std::string_view bytes) : bytes_(bytes) {}
  int64_t number(size_t size) {
    if (size > bytes_.size()) return good_ = false, 0;
    uint64_t value = 0;
    for (size_t i = 0; i < size; ++i) value = value << 8 | static_cast<uint8_t>(bytes_[i]);
    bytes_.remove_prefix(size);
    const uint64_t sign = size == 8 ? 0 : value >> (size * 8 - 1) << (size * 8);
    return static_cast<int64_t>(value - sign);
  }
  uint8_t byte() { return static_cast<uint8_t>(number(1)); }
  void skip(int64_t size) {
    if (size < 0 || static_cast<size_t>(size) > bytes_.size())
      good_ = false;
    else
      bytes_.remove_prefix(static_cast<size_t>(size));
  }
  bool starts_with(std::string_view text) const { return bytes_.starts_with(text); }
  std::string_view rest() const { return bytes_; }
  bool good() const { return good_; }

 private:
  std::string_view bytes_;
  bool good_ = true;
};

struct Header {
  int version = 0;
  int64_t universal = 0, standard = 0, leaps = 0, times = 0, types = 0, letters = 0;
  int64_t size(int64_t time_size) const {
    return times * (time_size + 1) + types * 6 + letters + leaps * (time_size + 4) + standard +
           universal;
  }
};

std::optional<Header> read_header(Bytes& in) {
  if (!in.starts_with("TZif")) return std::nullopt;
  in.skip(4);
  Header h;
  h.version = in.byte();
  in.skip(15);
  for (int64_t* count : {&h.universal, &h.standard, &h.leaps, &h.times, &h.types, &h.letters}) {
    *count = in.number(4);
    constexpr int64_t kCountMax = 100'000;  // chosen: the largest file has some hundreds
    if (*count < 0 || *count > kCountMax) return std::nullopt;
  }
  if (!in.good() || h.types == 0) return std::nullopt;
  return h;
}

int64_t days_of_month(int year, int month) {
  const int next_year = month == 12 ? year + 1 : year;
  const int next = month == 12 ? 1 : month + 1;
  return (civil_to_seconds({.year = next_year, .month = next}) -
          civil_to_seconds({.year = year, .month = month})) /
         kDaySeconds;
}

}  // namespace

// std offset [dst [offset] [, date [/time], date [/time]]]
class RuleReader {
 public:
  explicit RuleReader(std::string_view text) : text_(text) {}

  std::optional<Zone::Rule> read() {
    Zone::Rule rule;
    if (!name()) return std::nullopt;
    const auto standard = time();
    if (!standard) return std::nullopt;
    rule.standard = static_cast<int32_t>(-*standard);  // POSIX counts to the west
    if (text_.empty()) return rule;
    if (!name()) return std::nullopt;
    rule.has_summer = true;
    rule.summer = rule.standard + 3600;
    if (!text_.empty() && text_[0] != ',') {
      const auto summer = time();
      if (!summer) return std::nullopt;
      rule.summer = static_cast<int32_t>(-*summer);
    }
    if (!change(rule.to_summer) || !change(rule.to_standard) || !text_.empty()) return std::nullopt;
    return rule;
  }

 private:
  bool take(char c) {
    if (text_.empty() || text_[0] != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  bool name() {  // CET, or <+0330>
    const bool quoted = take('<');
    const auto letter = [&](char c) {
      return quoted ? c != '>' : (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    };
    size_t size = 0;
    while (size < text_.size() && letter(text_[size])) ++size;
    text_.remove_prefix(size);
    return size >= 3 && (!quoted || take('>'));
  }
  std::optional<int64_t> number() {
    int64_t value = 0;
    size_t digits = 0;
    for (; digits < text_.size() && digits < 4 && text_[digits] >= '0' && text_[digits] <= '9';
         ++digits)
      value = value * 10 + (text_[digits] - '0');
    text_.remove_prefix(digits);
    if (digits == 0) return std::nullopt;
    return value;
  }
  std::optional<int64_t> time() {  // [+-]hh[:mm[:ss]]
    const int64_t sign = take('-') ? -1 : (take('+'), 1);
    int64_t seconds = 0;
    for (const int64_t unit : {3600, 60, 1}) {
      if (unit != 3600 && !take(':')) break;
      const auto part = number();
      if (!part || *part > (unit == 3600 ? 167 : 59)) return std::nullopt;
      seconds += *part * unit;
    }
    return sign * seconds;
  }
  bool change(Zone::Change& c) {
    if (!take(',')) return false;
    if (take('M')) {
      const auto month = number();
      if (!month || !take('.')) return false;
      const auto week = number();
      if (!week || !take('.')) return false;
      const auto day = number();
      if (!day || *month < 1 || *month > 12 || *week < 1 || *week > 5 || *day > 6) return false;
      c.month = static_cast<int>(*month);
      c.week = static_cast<int>(*week);
      c.day = static_cast<int>(*day);
    } else {
      c.kind = take('J') ? Zone::Change::Kind::julian : Zone::Change::Kind::zero_based;
      const auto day = number();
      if (!day || *day > 365) return false;
      c.day = static_cast<int>(*day);
    }
    if (!take('/')) return true;
    const auto at = time();
    if (at) c.seconds = *at;
    return at.has_value();
  }

  std::string_view text_;
};

// Local seconds since 1970 at which the change comes in that year.
int64_t Zone::change_seconds(int year, const Change& c) {
  if (c.kind != Change::Kind::weekday) {
    const bool leap = days_of_month(year, 2) == 29;
    int64_t day = c.day;
    if (c.kind == Change::Kind::julian) day += leap && c.day >= 60 ? 0 : -1;  // never February 29
    return civil_to_seconds({.year = year}) + day * kDaySeconds + c.seconds;
  }
  const int64_t first = civil_to_seconds({.year = year, .month = c.month}) / kDaySeconds;
  const int64_t weekday = ((first + 4) % 7 + 7) % 7;  // 1970-01-01 was a Thursday
  int64_t day = (c.day - weekday + 7) % 7 + (c.week - 1) * 7;
  if (day >= days_of_month(year, c.month)) day -= 7;  // week 5 is the last
  return (first + day) * kDaySeconds + c.seconds;
}

int64_t Zone::by_rule(int64_t seconds) const {
  const Rule& rule = *rule_;
  if (!rule.has_summer) return rule.standard;
  const int year = seconds_to_civil(seconds + rule.standard).year;
  const int64_t begin = change_seconds(year, rule.to_summer) - rule.standard;
  const int64_t end = change_seconds(year, rule.to_standard) - rule.summer;
  const bool north = begin < end;
  const bool summer = north ? seconds >= begin && seconds < end : seconds >= begin || seconds < end;
  return summer ? rule.summer : rule.standard;
}

int64_t Zone::offset_seconds(Instant at) const {
  const int64_t seconds = floor_seconds(at);
  const auto after = std::ranges::upper_bound(transitions_, seconds, {}, &Transition::at);
  if (after == transitions_.end() && rule_) return by_rule(seconds);
  return after == transitions_.begin() ? first_offset_ : std::prev(after)->offset;
}

Result<Zone> Zone::read(std::string_view tzif) {
  const auto broken = [] {
    return fail("zone-broken", "this is no file of a time zone (TZif)",
                "install tzdata, or write the window in `UTC`");
  };
  Bytes in(tzif);
  auto header = read_header(in);
  if (!header) return broken();
  int64_t time_size = 4;
  if (header->version >= '2') {  // a second part follows, with times of 64 bits
    in.skip(header->size(4));
    header = read_header(in);
    if (!header || !in.good()) return broken();
    time_size = 8;
  }
  Zone zone;
  zone.transitions_.resize(static_cast<size_t>(header->times));
  for (Transition& t : zone.transitions_) t.at = in.number(static_cast<size_t>(time_size));
  std::vector<uint8_t> types;
  for (int64_t i = 0; i < header->times; ++i) types.push_back(in.byte());
  std::vector<int32_t> offsets;
  for (int64_t i = 0; i < header->types; ++i) {
    offsets.push_back(static_cast<int32_t>(in.number(4)));
    in.skip(2);
  }
  in.skip(header->letters + header->leaps * (time_size + 4) + header->standard + header->universal);
  if (!in.good()) return broken();
  for (size_t i = 0; i < types.size(); ++i) {
    if (types[i] >= offsets.size()) return broken();
    zone.transitions_[i].offset = offsets[types[i]];
    if (i > 0 && zone.transitions_[i].at <= zone.transitions_[i - 1].at) return broken();
  }
  zone.first_offset_ = offsets[0];
  const std::string_view footer = in.rest();
  if (time_size == 8 && footer.size() > 2 && footer.front() == '\n') {
    const std::string_view rule = footer.substr(1, footer.find('\n', 1) - 1);
    zone.rule_ = RuleReader(rule).read();
    if (!zone.rule_ && !rule.empty()) return broken();
  }
  return zone;
}

}  // namespace fairlead::policy

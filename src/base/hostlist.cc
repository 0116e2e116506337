#include "base/hostlist.h"

#include <fmt/format.h>

#include <charconv>

namespace fairlead {
namespace {

std::unexpected<Diagnostic> bad(std::string_view text) {
  return fail("hostlist-bad", fmt::format("'{}' is not a list of host names", text.substr(0, 80)),
              "write it like n[001-003,7],login1");
}

struct Range {
  uint64_t first = 0;
  uint64_t last = 0;
  size_t width = 0;  // digits written, leading zeros included
};

bool parse_range(std::string_view text, Range& range) {
  const size_t dash = text.find('-');
  const std::string_view low = text.substr(0, dash);
  const std::string_view high = dash == text.npos ? low : text.substr(dash + 1);
  const auto number = [](std::string_view s, uint64_t& out) {
    const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), out);
    return !s.empty() && error == std::errc{} && end == s.data() + s.size();
  };
  range.width = low.size();
  return number(low, range.first) && number(high, range.last) && range.first <= range.last;
}

// Splits "a[1,2]b,c" at the commas outside brackets.
bool split_names(std::string_view text, std::vector<std::string_view>& names) {
  size_t begin = 0;
  int depth = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (text[i] == ',' && depth == 0)) {
      if (i == begin) return false;
      names.push_back(text.substr(begin, i - begin));
      begin = i + 1;
    } else if (text[i] == '[') {
      if (++depth > 1) return false;
    } else if (text[i] == ']') {
      if (--depth < 0) return false;
    }
  }
  return depth == 0;
}

// Appends every name that `pattern` stands for, first bracket slowest.
bool expand_name(std::string_view pattern, std::vector<std::string>& out) {
  std::vector<std::string> heads = {""};
  while (true) {
    const size_t open = pattern.find('[');
    for (std::string& head : heads) head += pattern.substr(0, open);
    if (open == pattern.npos) break;
    const size_t close = pattern.find(']', open);
    std::string_view groups = pattern.substr(open + 1, close - open - 1);
    pattern.remove_prefix(close + 1);
    std::vector<std::string> grown;
    for (const std::string& head : heads) {
      std::string_view rest = groups;
      while (true) {
        const size_t comma = rest.find(',');
        Range range;
        if (!parse_range(rest.substr(0, comma), range)) return false;
        if (range.last - range.first >= kHostlistMax - grown.size()) return false;
        for (uint64_t n = range.first; n <= range.last; ++n) {
          grown.push_back(fmt::format("{}{:0{}}", head, n, range.width));
        }
        if (comma == rest.npos) break;
        rest.remove_prefix(comma + 1);
      }
    }
    heads = std::move(grown);
  }
  for (std::string& head : heads) out.push_back(std::move(head));
  return true;
}

}  // namespace

Result<std::vector<std::string>> expand_hostlist(std::string_view text) {
  std::vector<std::string> out;
  if (text.empty()) return out;
  std::vector<std::string_view> names;
  if (!split_names(text, names)) return bad(text);
  for (const std::string_view name : names) {
    if (!expand_name(name, out)) return bad(text);
    if (out.size() > kHostlistMax) {
      return fail("hostlist-too-long", fmt::format("a list of more than {} hosts", kHostlistMax));
    }
  }
  return out;
}

namespace {

// "n007x" -> head "n", number 7, width 3, tail "x"; no digits: width 0.
struct Split {
  std::string_view head, digits, tail;
};

Split split_last_number(std::string_view name) {
  size_t end = name.size();
  while (end > 0 && (name[end - 1] < '0' || name[end - 1] > '9')) --end;
  size_t begin = end;
  while (begin > 0 && name[begin - 1] >= '0' && name[begin - 1] <= '9' && end - begin < 18) --begin;
  return {name.substr(0, begin), name.substr(begin, end - begin), name.substr(end)};
}

uint64_t number_of(std::string_view digits) {
  uint64_t n = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), n);
  return n;
}

}  // namespace

std::string fold_hostlist(const std::vector<std::string>& names) {
  std::string out;
  size_t i = 0;
  while (i < names.size()) {
    const Split first = split_last_number(names[i]);
    std::string ranges;
    size_t count = 0;
    size_t j = i;
    while (j < names.size() && !first.digits.empty()) {
      const Split low = split_last_number(names[j]);
      if (low.head != first.head || low.tail != first.tail ||
          low.digits.size() != first.digits.size())
        break;
      size_t k = j + 1;
      while (k < names.size()) {
        const Split next = split_last_number(names[k]);
        if (next.head != low.head || next.tail != low.tail ||
            next.digits.size() != low.digits.size() ||
            number_of(next.digits) != number_of(low.digits) + (k - j))
          break;
        ++k;
      }
      if (!ranges.empty()) ranges += ',';
      ranges += low.digits;
      if (k > j + 1) ranges += fmt::format("-{}", split_last_number(names[k - 1]).digits);
      count += k - j;
      j = k;
    }
    if (!out.empty()) out += ',';
    if (count <= 1) {
      out += names[i];
      i = std::max(j, i + 1);
    } else {
      out += fmt::format("{}[{}]{}", first.head, ranges, first.tail);
      i = j;
    }
  }
  return out;
}

}  // namespace fairlead

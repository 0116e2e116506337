#include "base/words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace fairlead {
namespace {

// How many letters must change, or neighbours change places, to turn one word into the other.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> last, row(b.size() + 1), next(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    next[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t changed = row[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      next[j] = std::min({row[j] + 1, next[j - 1] + 1, changed});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        next[j] = std::min(next[j], last[j - 2] + 1);
    }
    last = std::exchange(row, next);
  }
  return row[b.size()];
}

}  // namespace

std::string with_thousands(int64_t number) {
  std::string digits = fmt::format(
      "{}", number < 0 ? -static_cast<__int128>(number) : static_cast<__int128>(number));
  for (size_t i = digits.size(); i > 3;) {
    i -= 3;
    digits.insert(i, ",");
  }
  return number < 0 ? "-" + digits : digits;
}

std::string plural(int64_t n, std::string_view noun) {
  const bool hisses = noun.ends_with("ch") || noun.ends_with('s') || noun.ends_with('x');
  return fmt::format("{} {}{}", with_thousands(n), noun, n == 1 ? "" : hisses ? "es" : "s");
}

std::string nearest_word(std::string_view word, const std::vector<std::string>& known) {
  constexpr size_t kWordMax = 64;  // chosen: what is longer is no slip of the finger
  if (word.size() > kWordMax || known.empty()) return "";
  const auto nearest =
      std::ranges::min_element(known, {}, [&](const std::string& k) { return distance(word, k); });
  const size_t letters_max = std::max<size_t>(1, word.size() / 3);
  const size_t letters = distance(word, *nearest);
  return letters <= letters_max && letters < nearest->size() ? *nearest : "";
}

std::string hint_for_unknown(std::string_view word, const std::vector<std::string>& known) {
  const std::string nearest = nearest_word(word, known);
  return nearest.empty() ? fmt::format("known: {}", fmt::join(known, ", "))
                         : fmt::format("did you mean '{}'?", nearest);
}

}  // namespace fairlead

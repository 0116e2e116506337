#include "base/words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace fairlead {
namespace {

// A letter that differs costs two; one that differs in case alone, or looks the same, costs one.
size_t half_steps(char a, char b) {
  if (a == b) return 0;
  const auto like = [](char c) {
    if (c == 'O' || c == 'o') return '0';
    if (c == 'I' || c == 'l') return '1';
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  };
  return like(a) == like(b) ? 1 : 2;
}

// Optimal string alignment over half steps, with three rows.
size_t half_step_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before, above, row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = 2 * j;
  for (size_t i = 1; i <= a.size(); ++i) {
    before = std::exchange(above, row);
    row[0] = 2 * i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] =
          std::min({above[j] + 2, row[j - 1] + 2, above[j - 1] + half_steps(a[i - 1], b[j - 1])});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 2);
    }
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

std::string nearest_word(std::string_view word, std::span<const std::string> known) {
  constexpr size_t kWordMax = 64;  // chosen: what is longer is no slip of the finger
  if (word.size() > kWordMax) return "";
  // Half steps: one slip in a short word, one in three letters of a longer one.
  const size_t steps_max = 2 * std::max<size_t>(1, word.size() / 3);
  const std::string* best = nullptr;
  size_t best_steps = steps_max + 1;
  for (const std::string& candidate : known) {
    if (candidate.size() > kWordMax) continue;
    const size_t steps = half_step_distance(word, candidate);
    const bool all_of_it = steps >= 2 * candidate.size();
    if (steps < best_steps && !all_of_it) best = &candidate, best_steps = steps;
  }
  return best == nullptr ? "" : *best;
}

std::string hint_for_unknown(std::string_view word, std::span<const std::string> known) {
  const std::string nearest = nearest_word(word, known);
  return nearest.empty() ? fmt::format("known: {}", fmt::join(known, ", "))
                         : fmt::format("did you mean '{}'?", nearest);
}

}  // namespace fairlead

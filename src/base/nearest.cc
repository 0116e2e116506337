#include "base/nearest.h"

#include <algorithm>
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

size_t edit_distance(std::string_view a, std::string_view b) {
  return (half_step_distance(a, b) + 1) / 2;
}

std::optional<std::string> nearest_name(std::string_view name, std::span<const std::string> names) {
  constexpr size_t kLengthMax = 80;  // chosen: no name that a person meant is longer
  if (name.size() > kLengthMax) return std::nullopt;
  // Chosen: one slip in a short word, two in a usual one, one in three letters of a long one.
  const size_t most = name.size() <= 4 ? 1 : std::max<size_t>(2, name.size() / 3);
  const std::string* best = nullptr;
  size_t best_steps = 2 * most + 1;
  for (const std::string& candidate : names) {
    if (candidate.size() > kLengthMax) continue;
    const size_t steps = half_step_distance(name, candidate);
    if (steps < best_steps) best = &candidate, best_steps = steps;
  }
  if (best == nullptr) return std::nullopt;
  return *best;
}

}  // namespace fairlead

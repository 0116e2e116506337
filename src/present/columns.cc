#include "present/columns.h"

#include <algorithm>

namespace fairlead {
namespace {

constexpr std::array<ColumnLook, kColumns> kLooks = {{
    {Column::useful, "useful", "useful", "█", "#0072B2", "held, and evidence says that it works"},
    {Column::held_idle, "held_idle", "held idle", "▒", "#E69F00",
     "held, and evidence says that it does not work"},
    {Column::held_unmeasured, "held_unmeasured", "held unmeasured", "░", "#9AA3AB",
     "held, and nobody can say whether it works"},
    {Column::lost, "lost", "lost", "x", "#D55E00",
     "was useful, then thrown away by an eviction or a failure"},
    {Column::reserved, "reserved", "reserved", "=", "#CC79A7", "not held, kept for a reservation"},
    {Column::free, "free", "free", "·", "", "not held, could be"},
    {Column::stranded, "stranded", "stranded", "/", "",
     "not held, and no waiting shape fits on it"},
    {Column::down, "down", "down", "_", "#3B4148",
     "not usable: down, drained, failed or in maintenance"},
}};

}  // namespace

std::span<const ColumnLook, kColumns> column_looks() { return kLooks; }

const ColumnLook& look_of(Column column) { return kLooks[static_cast<size_t>(column)]; }

int64_t amount(const ColumnSeconds& s, Column column) {
  const std::array<int64_t, kColumns> all = {s.useful,   s.held_idle, s.held_unmeasured, s.lost,
                                             s.reserved, s.free,      s.stranded,        s.down};
  return all[static_cast<size_t>(column)];
}

std::array<int64_t, kColumns> apportion(const ColumnSeconds& amounts, int64_t cells) {
  // 1. Whole cells, rounded down, but one for whatever is there.
  std::array<int64_t, kColumns> parts{};
  std::array<__int128, kColumns> rests{};
  __int128 total = 0;
  int64_t present = 0, given = 0;
  for (const ColumnLook& look : kLooks) {
    const int64_t n = std::max<int64_t>(0, amount(amounts, look.column));
    total += n;
    present += n > 0 ? 1 : 0;
  }
  if (total == 0 || cells <= 0) return parts;
  for (size_t c = 0; c < kColumns; ++c) {
    const __int128 scaled =
        static_cast<__int128>(std::max<int64_t>(0, amount(amounts, static_cast<Column>(c)))) *
        cells;
    parts[c] = static_cast<int64_t>(scaled / total);
    rests[c] = scaled % total;
    if (scaled > 0 && parts[c] == 0 && present <= cells) {
      parts[c] = 1;
      rests[c] = 0;
    }
    given += parts[c];
  }
  // 2. What is left goes to the largest rests; what is too much comes from the largest parts.
  for (; given < cells; ++given) {
    const auto most = std::ranges::max_element(rests);
    ++parts[static_cast<size_t>(most - rests.begin())];
    *most = -1;
  }
  for (; given > cells; --given) --*std::ranges::max_element(parts);
  return parts;
}

}  // namespace fairlead

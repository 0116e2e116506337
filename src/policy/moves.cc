#include "policy/moves.h"

#include <algorithm>
#include <tuple>

namespace fairlead::policy {
namespace {

// Some that stand on a node, as bits, and what it costs to move them.
struct Set {
  int64_t lost = 0;
  int32_t devices = 0;
  int moves = 0;
  size_t node = 0;
  uint32_t bits = 0;
  auto operator<=>(const Set&) const = default;
};

std::vector<Resident> cheapest(std::vector<Resident> residents) {
  std::ranges::sort(residents, {}, [](const Resident& r) {
    return std::tuple(r.lost_device_seconds, r.devices, r.id);
  });
  if (residents.size() > kMovedMax) residents.resize(kMovedMax);
  return residents;
}

template <class F>
void for_each_of(uint32_t bits, const std::vector<Resident>& residents, F&& f) {
  for (size_t i = 0; i < residents.size(); ++i)
    if ((bits >> i & 1) != 0) f(residents[i]);
}

// Those sets that make room, and from which nobody could stay.
void add_sets(size_t node, const std::vector<Resident>& residents, int32_t needed,
              std::vector<Set>& out) {
  for (uint32_t bits = 0; bits < uint32_t{1} << residents.size(); ++bits) {
    Set set{.node = node, .bits = bits};
    int32_t least = 0;
    for_each_of(bits, residents, [&](const Resident& r) {
      set.lost += r.lost_device_seconds;
      set.devices += r.devices;
      ++set.moves;
      least = least == 0 ? r.devices : std::min(least, r.devices);
    });
    if (set.devices >= needed && (bits == 0 || set.devices - least < needed)) out.push_back(set);
  }
}

MovePlan plan_of(const Set& set, const std::vector<Resident>& residents) {
  MovePlan plan{
      .node = set.node, .moves = {}, .devices = set.devices, .lost_device_seconds = set.lost};
  for_each_of(set.bits, residents, [&](const Resident& r) {
    plan.moves.push_back(
        {.work = r.id, .devices = r.devices, .lost_device_seconds = r.lost_device_seconds});
  });
  std::ranges::sort(plan.moves, {}, [](const Move& m) { return std::pair(-m.devices, m.work); });
  return plan;
}

}  // namespace

std::optional<MovePlan> cheapest_moves(const std::vector<NodeOfWork>& nodes, int32_t devices,
                                       const Pack& pack) {
  std::vector<std::vector<Resident>> residents;
  std::vector<Set> sets;
  for (size_t n = 0; n < nodes.size(); ++n) {
    residents.push_back(cheapest(nodes[n].movable));
    add_sets(n, residents.back(), devices - nodes[n].free, sets);
  }
  const size_t tried = std::min(sets.size(), size_t{kPacksTried});
  std::ranges::partial_sort(sets, sets.begin() + static_cast<std::ptrdiff_t>(tried));
  for (size_t i = 0; i < tried; ++i) {
    MovePlan plan = plan_of(sets[i], residents[sets[i].node]);
    if (pack(plan)) return plan;
  }
  return std::nullopt;
}

}  // namespace fairlead::policy

#include "fabric/slices.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace fairlead {
namespace {

constexpr uint8_t kEach = 0b0111'1111;  // 0…6
constexpr uint8_t kPairs = 0b0101'0101;
constexpr uint8_t kPairsBut6 = 0b0001'0101;
constexpr uint8_t kHalves = 0b0001'0001;
constexpr uint8_t kFirst = 0b0000'0001;

constexpr SliceProfile kA30[] = {
    {"1g.6gb", 1, 1, 0b1111}, {"2g.12gb", 2, 2, 0b0101}, {"4g.24gb", 4, 4, kFirst}};
constexpr SliceProfile kA100x40[] = {{"1g.5gb", 1, 1, kEach},       {"1g.10gb", 1, 2, kPairs},
                                     {"2g.10gb", 2, 2, kPairsBut6}, {"3g.20gb", 3, 4, kHalves},
                                     {"4g.20gb", 4, 4, kFirst},     {"7g.40gb", 7, 8, kFirst}};
constexpr SliceProfile kOf80[] = {{"1g.10gb", 1, 1, kEach},      {"1g.20gb", 1, 2, kPairs},
                                  {"2g.20gb", 2, 2, kPairsBut6}, {"3g.40gb", 3, 4, kHalves},
                                  {"4g.40gb", 4, 4, kFirst},     {"7g.80gb", 7, 8, kFirst}};
constexpr SliceProfile kH100x94[] = {{"1g.12gb", 1, 1, kEach},      {"1g.24gb", 1, 2, kPairs},
                                     {"2g.24gb", 2, 2, kPairsBut6}, {"3g.47gb", 3, 4, kHalves},
                                     {"4g.47gb", 4, 4, kFirst},     {"7g.94gb", 7, 8, kFirst}};
constexpr SliceProfile kH200[] = {{"1g.18gb", 1, 1, kEach},      {"1g.35gb", 1, 2, kPairs},
                                  {"2g.35gb", 2, 2, kPairsBut6}, {"3g.71gb", 3, 4, kHalves},
                                  {"4g.71gb", 4, 4, kFirst},     {"7g.141gb", 7, 8, kFirst}};

template <class F>
void each_start(const SliceProfile& profile, uint8_t used, F&& f) {
  for (int32_t at = 0; at < 8; ++at) {
    if ((profile.starts >> at & 1) == 0) continue;
    const auto taken = static_cast<uint8_t>(((1U << profile.parts) - 1) << at);
    if ((used & taken) == 0) f(at, taken);
  }
}

}  // namespace

SliceTable::SliceTable(std::span<const SliceProfile> profiles) : profiles_(profiles) {
  const size_t count = profiles.size();
  room_.resize(count);
  start_.resize(count);
  for (int used = 0; used < 256; ++used) {
    for (size_t p = 0; p < count; ++p) {
      int8_t places = 0;
      each_start(profiles[p], static_cast<uint8_t>(used), [&](int32_t, uint8_t) { ++places; });
      room_[p][static_cast<size_t>(used)] = places;  // places of one profile never overlap
      left_[static_cast<size_t>(used)] += places;
    }
  }
  for (int used = 0; used < 256; ++used) {
    for (size_t p = 0; p < count; ++p) {
      int32_t best = -1;
      int32_t best_left = -1;
      each_start(profiles[p], static_cast<uint8_t>(used), [&](int32_t at, uint8_t taken) {
        const int32_t left = left_[static_cast<uint8_t>(used | taken)];
        if (left > best_left) best = at, best_left = left;
      });
      start_[p][static_cast<size_t>(used)] = static_cast<int8_t>(best);
    }
  }
}

std::optional<int32_t> SliceTable::find(std::string_view name) const {
  const auto at = std::ranges::find(profiles_, name, &SliceProfile::name);
  if (at == profiles_.end()) return std::nullopt;
  return static_cast<int32_t>(at - profiles_.begin());
}

int32_t SliceTable::room(uint8_t used, int32_t profile) const {
  return room_[static_cast<size_t>(profile)][used];
}

std::optional<int32_t> SliceTable::start(uint8_t used, int32_t profile) const {
  const int32_t at = start_[static_cast<size_t>(profile)][used];
  if (at < 0) return std::nullopt;
  return at;
}

uint8_t SliceTable::mask(int32_t profile, int32_t start) const {
  const SliceProfile& p = profiles_[static_cast<size_t>(profile)];
  CHECK(start >= 0 && start < 8 && (p.starts >> start & 1) != 0);
  return static_cast<uint8_t>(((1U << p.parts) - 1) << start);
}

const SliceTable* slice_table(std::string_view model) {
  static const SliceTable a30(kA30), a100x40(kA100x40), of80(kOf80), h100x94(kH100x94), h200(kH200);
  if (model == "A30") return &a30;
  if (model == "A100-40G") return &a100x40;
  if (model == "A100-80G" || model == "H100-80G" || model == "A800" || model == "H800")
    return &of80;
  if (model == "H100-94G") return &h100x94;
  if (model == "H200" || model == "H200-141G") return &h200;
  return nullptr;
}

}  // namespace fairlead

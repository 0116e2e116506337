// Where parts of devices fit: shares, and slices by the rules of their table.
//
// A part goes to the divided device that it fills most tightly, and a new device is divided only
// where none has room: one of the node with fewest free.
#include <map>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "fabric/capacity_index.h"

namespace fairlead {
namespace {

int32_t per_device(const Gang& gang, const SliceTable* slices) {
  if (gang.share_milli > 0) return kMilliOfDevice / gang.share_milli;
  return slices == nullptr ? 0 : slices->room(0, gang.profile);
}

int32_t room_on(const DividedDevice& device, const Gang& gang, const SliceTable* slices) {
  if (device.sliced != (gang.profile >= 0)) return 0;
  if (!device.sliced) return device.state / gang.share_milli;
  return slices->room(static_cast<uint8_t>(device.state), gang.profile);
}

// What an instance takes from the others of its device: places, and how many are left.
struct SliceLoss {
  int32_t loss = 0, left = 0;
  uint16_t state = 0;
  auto operator<=>(const SliceLoss&) const = default;
};

std::optional<SliceLoss> slice_loss(uint16_t state, int32_t profile, const SliceTable& slices) {
  const auto used = static_cast<uint8_t>(state);
  const auto start = slices.start(used, profile);
  if (!start) return std::nullopt;
  const int32_t left = slices.places_left(used | slices.mask(profile, *start));
  return SliceLoss{.loss = slices.places_left(used) - left, .left = left, .state = state};
}

}  // namespace

bool CapacityIndex::find_part(const Gang& gang, Placement& out) const {
  CHECK(slices_ == nullptr || gang.profile < static_cast<int32_t>(slices_->profiles().size()));
  if (per_device(gang, slices_) == 0) return false;
  if (gang.workers == 1) {
    auto grant = gang.share_milli > 0 ? shared_part(gang) : sliced_part(gang);
    if (!grant) grant = new_part(gang);
    if (grant) out.grants.push_back(*grant);
    return grant.has_value();
  }
  std::optional<Position> node;  // the one with the least room that suffices
  int64_t least = std::numeric_limits<int64_t>::max();
  for (Position at = 0; at < nodes_.size() && !gang.apart; ++at) {
    const int64_t workers = workers_on(at, gang);
    if (workers >= gang.workers && workers < least) node = at, least = workers;
  }
  if (node) {
    fill_parts(*node, *node + 1, gang.workers, gang, out);
    return true;
  }
  const int top = std::min(gang.level_max, tree_.levels() - 1);
  for (int level = 0; level <= top; ++level) {
    if (const auto domain = domain_for(level, gang)) {
      fill(level, *domain, gang.workers, gang, out);
      out.level = level;
      return true;
    }
  }
  return false;
}

int64_t CapacityIndex::parts_on(Position at, const Gang& gang) const {
  int64_t workers = int64_t{free_[at]} * per_device(gang, slices_);
  if (divided_.empty() || !in_service(at)) return workers;
  for (const DividedDevice& device : divided_.on(at)) workers += room_on(device, gang, slices_);
  return workers;
}

bool CapacityIndex::may_stand(Position at, const Gang& gang) const {
  return in_service(at) && (gang.only == nullptr || gang.only->has(at)) && sides_hold(at, 1, gang);
}

std::optional<Grant> CapacityIndex::shared_part(const Gang& gang) const {
  const auto least = static_cast<uint16_t>(gang.share_milli);
  for (auto s = divided_.shared().lower_bound(least); s != divided_.shared().end(); ++s) {
    for (const DividedDevices::Spot& spot : s->second) {
      if (may_stand(spot.at, gang)) return Grant{.at = spot.at, .device = spot.number};
    }
  }
  return std::nullopt;
}

std::optional<Grant> CapacityIndex::sliced_part(const Gang& gang) const {
  std::vector<SliceLoss> states;
  for (const auto& [state, spots] : divided_.sliced()) {
    if (const auto loss = slice_loss(state, gang.profile, *slices_)) states.push_back(*loss);
  }
  std::ranges::sort(states);
  for (const SliceLoss& s : states) {
    for (const DividedDevices::Spot& spot : divided_.sliced().at(s.state)) {
      if (!may_stand(spot.at, gang)) continue;
      const auto start = slices_->start(static_cast<uint8_t>(s.state), gang.profile);
      return Grant{
          .at = spot.at, .device = spot.number, .start = static_cast<uint8_t>(start.value())};
    }
  }
  return std::nullopt;
}

std::optional<Grant> CapacityIndex::new_part(const Gang& gang) const {
  const auto at = tightest(1, 1, gang);
  if (!at) return std::nullopt;
  Grant grant{.at = *at, .device = divided_.unused_number(*at)};
  if (gang.profile >= 0)
    grant.start = static_cast<uint8_t>(slices_->start(0, gang.profile).value());
  return grant;
}

// Requires: so many fit between the two positions.
void CapacityIndex::fill_parts(Position first, Position end, int64_t workers, const Gang& gang,
                               Placement& out) const {
  std::map<Position, int64_t> rest_on;  // what each node may still take
  const auto fill_device = [&](Position at, DividedDevice device) {
    int64_t& rest = rest_on.try_emplace(at, workers_on(at, gang)).first->second;
    int64_t some = std::min({workers, rest, int64_t{room_on(device, gang, slices_)}});
    workers -= some;
    rest -= some;
    if (!device.sliced && some > 0)
      out.grants.push_back(
          {.at = at, .workers = static_cast<int32_t>(some), .device = device.number});
    for (; device.sliced && some > 0; --some) {
      const int32_t start =
          slices_->start(static_cast<uint8_t>(device.state), gang.profile).value();
      device.state |= slices_->mask(gang.profile, start);
      out.grants.push_back(
          {.at = at, .device = device.number, .start = static_cast<uint8_t>(start)});
    }
  };

  // 1. devices that are divided, those with least room first
  struct Divided {
    int32_t room = 0;
    Position at = 0;
    DividedDevice device;
  };
  std::vector<Divided> divided;
  std::vector<std::pair<int32_t, Position>> whole;
  for (Position at = first; at < end; ++at) {
    if (workers_on(at, gang) == 0) continue;
    for (const DividedDevice& device : divided_.on(at)) {
      const int32_t room = room_on(device, gang, slices_);
      if (room > 0) divided.push_back({device.sliced ? room : device.state, at, device});
    }
    if (free_[at] > 0) whole.emplace_back(free_[at], at);
  }
  std::ranges::sort(divided, {},
                    [](const Divided& d) { return std::tuple(d.room, d.at, d.device.number); });
  for (const Divided& d : divided) fill_device(d.at, d.device);

  // 2. new ones, on the nodes with fewest free first
  std::ranges::sort(whole);
  for (const auto& [free, at] : whole) {
    for (int32_t i = 0; i < free && workers > 0; ++i) {
      fill_device(at, {.number = divided_.unused_number(at, i),
                       .sliced = gang.profile >= 0,
                       .state = static_cast<uint16_t>(gang.profile >= 0 ? 0 : kMilliOfDevice)});
    }
  }
  CHECK(workers == 0);
}

void CapacityIndex::take_part(const Grant& grant, const Gang& gang) {
  const bool sliced = gang.profile >= 0;
  DividedDevice device = divided_.get(grant.at, grant.device, sliced);
  CHECK(device.sliced == sliced);
  const bool was_whole = device.state == (sliced ? 0 : kMilliOfDevice);
  if (sliced) {
    const uint8_t mask = slices_->mask(gang.profile, grant.start);
    CHECK((device.state & mask) == 0);
    device.state |= mask;
  } else {
    const int32_t share = grant.workers * gang.share_milli;
    CHECK(share <= device.state);
    device.state = static_cast<uint16_t>(device.state - share);
  }
  if (was_whole) set_actual(grant.at, actual(grant.at) - 1);
  divided_.put(grant.at, device);
}

void CapacityIndex::give_back_part(const Grant& grant, const Gang& gang) {
  const bool sliced = gang.profile >= 0;
  DividedDevice device = divided_.get(grant.at, grant.device, sliced);
  CHECK(device.sliced == sliced);
  if (sliced) {
    const uint8_t mask = slices_->mask(gang.profile, grant.start);
    CHECK((device.state & mask) == mask);
    device.state = static_cast<uint16_t>(device.state & ~mask);
  } else {
    const int32_t left = device.state + grant.workers * gang.share_milli;
    CHECK(left <= kMilliOfDevice);
    device.state = static_cast<uint16_t>(left);
  }
  if (device.state != (sliced ? 0 : kMilliOfDevice)) return divided_.put(grant.at, device);
  divided_.drop(grant.at, grant.device);
  set_actual(grant.at, actual(grant.at) + 1);
}

}  // namespace fairlead

#include "policy/patience.h"

#include <fmt/format.h>

#include <algorithm>

namespace fairlead::policy {
namespace {

using Worth = unsigned __int128;  // thousandths of a device, times microseconds

Worth lost_by(const Field& f, const std::vector<Victim>& victims, Instant when) {
  Worth lost = 0;
  for (const Victim& v : victims)
    if (v.rule != Rule::idle) lost += loss_of(f.organisation, f.running[v.running], when);
  return lost;
}

bool cannot_wait(const Field& f, const Work& claimant, const std::vector<Victim>& victims) {
  const std::vector<ClassId>& preempts = f.organisation.classes[claimant.klass].preempts;
  return goes_anywhere(f, claimant) && std::ranges::all_of(victims, [&](const Victim& v) {
           return std::ranges::binary_search(preempts, f.running[v.running].work.klass);
         });
}

std::string hours(int64_t device_seconds) {
  const int64_t tenths = device_seconds / 360;
  return tenths >= 100 ? fmt::format("{}", tenths / 10)
                       : fmt::format("{}.{}", tenths / 10, tenths % 10);
}

}  // namespace

std::string to_text(const Patience& p) {
  return fmt::format("taking back now would lose {} GPU-hours to save {}",
                     hours(p.lost_device_seconds), hours(p.saved_device_seconds));
}

Instant Scales::claims_since(const Work& claimant, Instant now) const {
  if (claims_ != nullptr) {
    const auto claim = claims_->find(claimant.id);
    return claim == claims_->end() ? now : claim->second;
  }
  const bool waits = org_.for_waiting && org_.for_waiting->wait;
  return waits ? claimant.since + *org_.for_waiting->wait : claimant.since;
}

std::optional<Patience> Scales::weigh(const Field& f, const Work& claimant,
                                      const std::vector<Victim>& victims,
                                      const std::vector<bool>& gone) {
  const Worth lost = lost_by(f, victims, f.now);
  if (lost == 0 || cannot_wait(f, claimant, victims)) return std::nullopt;
  const auto worth_of = [&](Duration time) {
    return static_cast<Worth>(claimant.size.value) *
           static_cast<Worth>(std::max<int64_t>(0, time.us));
  };
  const Instant since = claims_since(claimant, f.now);
  if (worth_of(f.now - since) >= lost_by(f, victims, since)) return std::nullopt;
  const auto ends =
      ends_.try_emplace(claimant.device, f.running, claimant.device, Ends::By::likely).first;
  const Reservation churn =
      earliest(claimant, {f.quota, f.room, f.now}, ends->second, [&](const RunningWork& r) {
        return !gone[static_cast<size_t>(&r - f.running.data())] && !counted_on_.contains(&r);
      });
  if (!churn.at.known()) return std::nullopt;
  const Worth saved = worth_of(churn.at - f.now);
  if (saved >= lost) return std::nullopt;
  Patience patience{.of = claimant.id,
                    .by = churn.at,
                    .lost_device_seconds = device_seconds(lost),
                    .saved_device_seconds = device_seconds(saved)};
  for (const RunningWork* r : churn.gone) {
    patience.ends = patience.ends + r->work.size;
    counted_on_.insert(r);
  }
  return patience;
}

}  // namespace fairlead::policy

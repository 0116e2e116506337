#include "contest/entitlement.h"

#include <algorithm>
#include <cstdlib>

namespace fairlead::contest {
namespace {

struct Part {  // of what a team shares out
  int64_t own = 0, weight = 1, wants = 0, gets = 0;
};

// Shares out `amount`: what is owned first, then by weight, a part at a time as one is satisfied.
void share_out(std::vector<Part>& parts, int64_t amount) {
  int64_t owned = 0;
  for (const Part& p : parts) owned += std::min(p.own, p.wants);
  for (Part& p : parts) {
    const int64_t due = std::min(p.own, p.wants);
    // Children own no more than their team, but a team may have less than it owns.
    p.gets = owned <= amount ? due : due * amount / owned;
  }
  for (const Part& p : parts) amount -= p.gets;
  for (;;) {
    int64_t weights = 0;
    for (const Part& p : parts) weights += p.gets < p.wants ? p.weight : 0;
    if (amount <= 0 || weights == 0) return;
    const int64_t before = amount;
    for (Part& p : parts) {
      if (p.gets >= p.wants) continue;
      const int64_t more = std::min(p.wants - p.gets, before * p.weight / weights);
      p.gets += more;
      amount -= more;
    }
    if (amount == before) return;  // less than one for each
  }
}

class Sharing {
 public:
  Sharing(const Match& match, DeviceId device, const std::vector<int64_t>& wants)
      : teams_(match.organisation.teams),
        device_(device),
        devices_(match.organisation.devices.size()),
        direct_(wants),
        below_(teams_.size()) {
    for (size_t t = teams_.size(); t-- > 0;) {
      below_[t] += direct_[t * devices_ + device_];
      if (t != policy::kRoot) below_[teams_[t].parent] += below_[t];
    }
  }

  void share(TeamId team, int64_t amount, std::vector<int64_t>& out) const {
    std::vector<Part> parts;
    std::vector<TeamId> children;
    for (TeamId c = team + 1; c < teams_[team].end; c = teams_[c].end) {
      if (below_[c] == 0) continue;
      children.push_back(c);
      parts.push_back({.own = teams_[c].limits[device_].own.value / 1000,
                       .weight = teams_[c].weight,
                       .wants = below_[c]});
    }
    parts.push_back({.wants = direct_[team * devices_ + device_]});
    share_out(parts, amount);
    out[team * devices_ + device_] = parts.back().gets;
    for (size_t i = 0; i < children.size(); ++i) share(children[i], parts[i].gets, out);
  }

 private:
  const std::vector<policy::Team>& teams_;
  DeviceId device_;
  size_t devices_;
  const std::vector<int64_t>& direct_;
  std::vector<int64_t> below_;  // with all sub-teams
};

}  // namespace

std::vector<int64_t> fair_amounts(const Match& match, const std::vector<int64_t>& wants) {
  std::vector<int64_t> out(wants.size());
  std::vector<int64_t> capacity(match.organisation.devices.size());
  for (const NodeGroup& g : match.fleet) capacity[g.device] += int64_t{g.nodes} * g.each;
  for (DeviceId d = 0; d < capacity.size(); ++d)
    Sharing(match, d, wants).share(policy::kRoot, capacity[d], out);
  return out;
}

std::optional<int64_t> share_error_ppm(const Match& match, const std::vector<int64_t>& held,
                                       const std::vector<int64_t>& waiting) {
  if (std::ranges::none_of(waiting, [](int64_t n) { return n > 0; })) return std::nullopt;
  std::vector<int64_t> wants = held;
  for (size_t i = 0; i < wants.size(); ++i) wants[i] += waiting[i];
  const std::vector<int64_t> fair = fair_amounts(match, wants);
  int64_t off = 0, fleet = 0;
  for (size_t i = 0; i < fair.size(); ++i) off += std::abs(held[i] - fair[i]);
  for (const NodeGroup& g : match.fleet) fleet += int64_t{g.nodes} * g.each;
  return fleet == 0 ? 0 : off * 500'000 / fleet;
}

}  // namespace fairlead::contest

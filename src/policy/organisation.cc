#include "policy/organisation.h"

#include <algorithm>

namespace fairlead::policy {
namespace {

template <class T>
std::optional<uint32_t> index_of(const std::vector<T>& sorted, std::string_view name) {
  const auto found = std::ranges::lower_bound(sorted, name, {}, &T::name);
  if (found == sorted.end() || found->name != name) return std::nullopt;
  return static_cast<uint32_t>(found - sorted.begin());
}

}  // namespace

std::optional<DeviceId> Organisation::device(std::string_view wanted) const {
  return index_of(devices, wanted);
}

std::optional<ClassId> Organisation::klass(std::string_view wanted) const {
  return index_of(classes, wanted);
}

std::optional<TeamId> Organisation::team(std::string_view path) const {
  const auto below = [&](std::string_view wanted) -> std::optional<TeamId> {
    const auto found = std::ranges::find_if(
        teams, [&](const Team& t) { return &t != &teams[kRoot] && t.path == wanted; });
    if (found == teams.end()) return std::nullopt;
    return static_cast<TeamId>(found - teams.begin());
  };
  if (teams.empty()) return std::nullopt;
  if (const auto found = below(path)) return found;
  const std::string& root = teams[kRoot].name;
  if (path == root) return kRoot;
  if (!path.starts_with(root + "/")) return std::nullopt;
  return below(path.substr(root.size() + 1));
}

TeamId Organisation::lowest_common(TeamId a, TeamId b) const {
  while (!is_below(b, a)) a = teams[a].parent;
  return a;
}

Digest digest_of(const Organisation& organisation) {
  Hasher hasher;
  hasher.add("org.v1");
  fold(hasher, organisation);
  return hasher.digest();
}

// Greedy with one way back: to the last `*`. At most |pattern| * |name| steps.
bool matches(std::string_view pattern, std::string_view name) {
  size_t p = 0, n = 0, star = std::string_view::npos, resume = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p, ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++resume;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

}  // namespace fairlead::policy

// Our own rule for a trace, chosen by trying several on pods like its own.
#include <fmt/format.h>

#include <utility>

#include "base/rng.h"
#include "sim/packing.h"

namespace fairlead {
namespace {

constexpr size_t kDrawsMax = 100'000;   // where no pod asks for a device
constexpr double kWorthChanging = 0.1;  // points; chosen: what three rehearsals differ by of chance

// Pods drawn at random from the trace until they ask for 130 %.
Arrivals drawn_arrivals(const PackTrace& trace, uint64_t seed) {
  Rng rng(seed);
  Arrivals result;
  int64_t rest = 0;
  for (const PackNode& node : trace.nodes) rest += int64_t{node.devices} * 1000;
  rest = rest * kPackPercentMax / 100;
  for (size_t draws = 0; rest > 0 && draws < kDrawsMax; ++draws) {
    const size_t pod = rng.below(trace.pods.size());
    rest -= trace.pods[pod].milli_all();
    result.pods.push_back(static_cast<int32_t>(pod));
  }
  for (size_t n = 0; n < trace.nodes.size(); ++n) {
    result.rank.push_back(static_cast<int32_t>(n));
    std::swap(result.rank[n], result.rank[rng.below(n + 1)]);
  }
  return result;
}

}  // namespace

std::string to_text(const PackRule& rule) {
  std::string text(enum_name(rule.policy));
  if (rule.fullness_milli != 0) text += fmt::format(", fullness {}", rule.fullness_milli);
  if (rule.steps != 100) text += fmt::format(", steps {}", rule.steps);
  return text;
}

PackRule rehearsed_rule(const PackTrace& trace) {
  std::vector<Arrivals> rehearsals;
  for (const uint64_t seed : {1, 2, 3}) rehearsals.push_back(drawn_arrivals(trace, seed));
  const auto allocated = [&](const PackRule& rule) {  // points at both loads, on average
    double sum = 0;
    for (const Arrivals& arrivals : rehearsals) {
      const PackResult result = pack(trace, arrivals, rule);
      sum += result.allocated[100] + result.allocated[130];
    }
    return sum / static_cast<double>(2 * rehearsals.size());
  };
  PackRule best{.policy = PackPolicy::fgd};
  double most = allocated(best) + kWorthChanging;
  for (const int32_t fullness : {0, 100}) {
    for (const int32_t steps : {25, 50, 100, 200}) {
      const PackRule rule{.policy = PackPolicy::fgd, .fullness_milli = fullness, .steps = steps};
      const double points = allocated(rule);
      if (points > most) best = rule, most = points;
    }
  }
  return best;
}

}  // namespace fairlead

#include "views/estimates_view.h"

#include <algorithm>
#include <cstdlib>

namespace fairlead {
namespace {

int64_t share_ppm(int64_t part, int64_t of) { return of == 0 ? -1 : part * 1'000'000 / of; }

int64_t median_error(const EstimateCard& card, const Promise ScoredEstimate::* promise) {
  std::vector<int64_t> errors;
  for (const ScoredEstimate& scored : card.last) {
    const Promise& p = scored.*promise;
    if (p.is_for_a_wait()) errors.push_back(std::abs((scored.started - p.p50).us));
  }
  if (errors.empty()) return -1;
  const auto middle = errors.begin() + std::ssize(errors) / 2;
  std::ranges::nth_element(errors, middle);
  return *middle;
}

}  // namespace

EstimatesTold estimates_of(const State& state) {
  const Estimates& e = state.estimates;
  const EstimateCard& card = e.card;
  return {.made = e.made,
          .told = std::ranges::count_if(
              e.now, [](const auto& of) { return of.second.latest.p50.known(); }),
          .asked = e.asked,
          .behind = e.behind,
          .started = card.started,
          .by_p50_ppm = share_ppm(card.by_p50, card.started),
          .by_p90_ppm = share_ppm(card.by_p90, card.with_p90),
          .at_once = card.at_once,
          .at_once_ppm = share_ppm(card.at_once_came, card.at_once),
          .not_told = card.not_told,
          .error_us = median_error(card, &ScoredEstimate::first),
          .error_latest_us = median_error(card, &ScoredEstimate::latest)};
}

}  // namespace fairlead

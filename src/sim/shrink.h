// The shortest list of steps found that still fails: delta debugging (Zeller and Hildebrandt,
// 2002).
//
// Parts of the list are left out, first halves, then ever smaller parts, as long as what is left
// fails. What comes back fails, and where the budget sufficed, none of its steps can be left out
// alone. The budget counts steps that were played, so that it ends on any machine.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace fairlead {

struct ShrinkBudget {
  int64_t steps_max = 0;
  int64_t steps = 0;  // played until now
  int64_t runs = 0;
};

// `fails` is asked of lists; it returns how many of their steps were played until it failed, or 0.
// Requires: it fails for `steps`.
template <class Step, class Fails>
std::vector<Step> shrink(std::vector<Step> steps, ShrinkBudget& budget, Fails&& fails) {
  size_t parts = 2;
  while (steps.size() > 1 && budget.steps < budget.steps_max) {
    bool shorter = false;
    const size_t size = (steps.size() + parts - 1) / parts;
    for (size_t begin = 0; begin < steps.size() && budget.steps < budget.steps_max;) {
      const auto from = steps.begin() + static_cast<ptrdiff_t>(begin);
      const auto until =
          steps.begin() + static_cast<ptrdiff_t>(std::min(begin + size, steps.size()));
      std::vector<Step> rest(steps.begin(), from);
      rest.insert(rest.end(), until, steps.end());
      const size_t played = rest.empty() ? 0 : fails(std::as_const(rest));
      ++budget.runs;
      budget.steps += static_cast<int64_t>(played > 0 ? played : rest.size());
      if (played == 0) {
        begin += size;
        continue;
      }
      rest.resize(std::min(played, rest.size()));  // what comes after is of no account
      steps = std::move(rest);
      shorter = true;  // the next part has moved to `begin`
    }
    if (!shorter && size == 1) break;
    parts = shorter ? std::max<size_t>(2, parts / 2) : std::min(parts * 2, steps.size());
  }
  return steps;
}

}  // namespace fairlead

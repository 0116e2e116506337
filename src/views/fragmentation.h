// How much of what is free the work cannot use.
//
// Two measures. *Waiting shapes*: for each shape that waits, how many copies could start now, each
// alone. *FGD* (Weng et al., ATC '23): over the mix M of shapes that wait and run, with frequency
// p_m,
//
//   F = sum over nodes n, shapes m of p_m * F_n(m),   F_n(m) = free devices of n if m does not fit,
//   else 0
//
// given as a share of the free devices. Devices here are whole, so there are no remainders inside
// one.
#pragma once

#include "views/report.h"

namespace fairlead {

Fragmentation fragmentation_of(const State& state);

}  // namespace fairlead

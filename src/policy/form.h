// What else waiting work accepts: fewer or more devices, another class of them, another time limit.
//
// Only what was declared is a candidate; without a declaration nothing is reshaped. Among the form
// that it asks for, when that will start, and the others that could start now, the one is chosen
// that is predicted to end first; of equals the one that it asks for, then in the order declared.
// Where a form's length or the start is not known, nothing is promised of its end: then another
// form is taken only where nobody can say when the first would start.
//
// A form that accepts a shorter limit gets one where it would else wait for a reservation: as long
// as is left until that, in whole minutes.
#pragma once

#include <map>
#include <vector>

#include "policy/work.h"

namespace fairlead::policy {

struct Form {
  DeviceId device = 0;
  Milli size;
  Duration time_max;       // zero: not known
  Duration time_min = {};  // it accepts a limit down to this; zero: only time_max
  uint32_t shape = 0;      // as a Room knows it
  Duration length;         // of its run, as predicted; zero: not known
};

struct Declared {
  Duration length;  // of the form that it asks for
  std::vector<Form> others;
};
using Forms = std::map<WorkId, Declared>;

inline Work in_form(const Work& work, const Form& form) {
  Work other = work;
  other.device = form.device;
  other.size = form.size;
  other.time_max = form.time_max;
  other.shape = form.shape;
  return other;
}

// What became of a choice.
struct Reshape {
  size_t form = 0;  // of `others`
  DeviceId device = 0;
  Milli size;
  Instant ends, ends_otherwise;  // as predicted; unknown: not known
  Duration time_max = {};        // shorter than the form's own; zero: that
  bool operator==(const Reshape&) const = default;
};

}  // namespace fairlead::policy

#include "evidence/normalise_merge.h"

#include <algorithm>
#include <cstdlib>
#include <tuple>

namespace fairlead::evidence {
namespace {

constexpr Duration kFillAgeMax = seconds(60);

std::array<int64_t, kFields> newest_values(const ExporterLooks& looks) {
  auto newest = ExporterLook::filled(-1);
  for (const ExporterLook& look : looks) {
    for (size_t field = 0; field < kFields; ++field) {
      if (look.values[field] >= 0) newest[field] = look.values[field];
    }
  }
  return newest;
}

// Adds to the looks of `one` what it never says and `other` does.
void fill_in(ExporterLooks& one, const std::array<int64_t, kFields>& own,
             const ExporterLooks& other) {
  for (ExporterLook& look : one) {
    const auto after = std::ranges::upper_bound(other, look.at, {}, &ExporterLook::at);
    for (auto last = after; last != other.begin();) {
      --last;
      if (last->at + kFillAgeMax < look.at) break;
      for (size_t field = 0; field < kFields; ++field) {
        if (own[field] < 0 && look.values[field] < 0) look.values[field] = last->values[field];
      }
    }
  }
}

}  // namespace

void ExporterLook::take(Field field, const SliceValue& v) {
  const auto f = static_cast<size_t>(field);
  ++taken;
  if (values[f] < 0) {
    values[f] = v.value;
    slices[f] = v.slice;
    ranks[f] = v.rank;
    return;
  }
  // The whole counts before its slices, a better metric before another, a repeated series once.
  const bool other_slice = slices[f] != 0 && slices[f] != v.slice && ranks[f] == v.rank;
  if (!other_slice) return;
  slices[f] = v.slice;
  values[f] = rule_of(field).adds_up ? values[f] + v.value : std::max(values[f], v.value);
}

bool ExporterLook::has_activity() const {
  for (const Field field :
       {Field::utilisation, Field::engine_active, Field::sm_active, Field::tensor_active}) {
    if ((*this)[field] >= 0) return true;
  }
  return false;
}

bool ExporterLook::says_something() const {
  const auto end = values.begin() + static_cast<size_t>(Field::memory_free);
  return std::any_of(values.begin(), end, [](int64_t value) { return value >= 0; });
}

DeviceSample ExporterLook::to_sample() const {
  const ExporterLook& look = *this;
  DeviceSample sample{.at = at,
                      .utilisation_ppm = look[Field::utilisation],
                      .engine_active_ppm = look[Field::engine_active],
                      .sm_active_ppm = look[Field::sm_active],
                      .tensor_active_ppm = look[Field::tensor_active],
                      .memory_active_ppm = look[Field::memory_active],
                      .memory_used_mib = look[Field::memory_used],
                      .memory_total_mib = look[Field::memory_total],
                      .power_mw = look[Field::power],
                      .clock_mhz = look[Field::clock],
                      .temperature_c = look[Field::temperature],
                      .fault_code = look[Field::fault_code],
                      .uuid = uuid};
  const bool parts_known = sample.memory_used_mib >= 0 && look[Field::memory_free] >= 0;
  if (sample.memory_total_mib < 0 && parts_known) {
    sample.memory_total_mib = sample.memory_used_mib + look[Field::memory_free] +
                              std::max<int64_t>(0, look[Field::memory_kept]);
  }
  return sample;
}

Merged merge_looks(const std::vector<ExporterLooks>& exporters) {
  const auto key = [](const ExporterLooks& looks) {
    Instant active;
    for (const ExporterLook& look : looks) active = look.has_activity() ? look.at : active;
    return std::tuple(active, looks.back().at);
  };
  const auto chosen = std::ranges::max_element(exporters, {}, key);
  Merged merged{.looks = *chosen};
  const auto own = newest_values(*chosen);
  for (auto other = exporters.begin(); other != exporters.end(); ++other) {
    if (other == chosen) continue;
    const auto theirs = newest_values(*other);
    for (size_t field = 0; field < kFields; ++field) {
      const bool both = own[field] >= 0 && theirs[field] >= 0;
      if (both &&
          std::abs(own[field] - theirs[field]) > rule_of(static_cast<Field>(field)).disagree)
        ++merged.contradictions;
    }
    fill_in(merged.looks, own, *other);
    for (const ExporterLook& look : *other) {
      for (size_t field = 0; field < kFields; ++field)
        merged.dropped += look.values[field] >= 0 && own[field] >= 0;
    }
  }
  return merged;
}

}  // namespace fairlead::evidence

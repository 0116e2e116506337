#include "adapters/prometheus/telemetry_events.h"

#include <fmt/format.h>

#include <algorithm>

namespace fairlead::prometheus {
namespace {

constexpr size_t kDetailMax = 2000;

}  // namespace

void Delivered::keep_new(std::vector<DeviceSample>& samples) {
  std::erase_if(samples, [&](const DeviceSample& sample) {
    Instant& newest = newest_[fmt::format("{}/{}/{}", sample.node, sample.index,
                                          sample.index < 0 ? sample.uuid : "")];
    if (sample.at <= newest) return true;
    newest = sample.at;
    return false;
  });
}

void Delivered::forget_before(Instant at) {
  erase_if(newest_, [&](const auto& entry) { return entry.second < at; });
}

void PollOutcome::add(std::string text) {
  if (text.empty() || detail.size() > kDetailMax) return;
  if (!detail.empty()) detail += "; ";
  detail += text;
}

void PollOutcome::fail(std::string text) {
  if (!ok) return add(std::move(text));
  ok = false;
  detail = detail.empty() ? std::move(text) : text + "; " + detail;
}

void PollOutcome::fail(const Diagnostic& diagnostic) {
  fail(diagnostic.hint.empty() ? diagnostic.message
                               : diagnostic.message + " (" + diagnostic.hint + ")");
}

void note_dropped(PollOutcome& outcome, const evidence::DropCounts& dropped) {
  using evidence::Dropped;
  for (size_t why = 0; why < evidence::kDropped; ++why) {
    const auto reason = static_cast<Dropped>(why);
    // Blanks and second exporters are read well enough.
    if (reason != Dropped::blank && reason != Dropped::other_exporter)
      outcome.unreadable += dropped[reason];
  }
  outcome.add(dropped.to_text());
}

void emit_began(const Emit& emit, Instant at) {
  emit({.at = at, .what = PollBegan{.source = Source::telemetry, .full = false}});
}

void emit_samples(const Emit& emit, Instant at, evidence::Normalised normalised,
                  Delivered& delivered) {
  for (std::vector<DeviceSample>* samples : {&normalised.samples, &normalised.unmatched}) {
    delivered.keep_new(*samples);
    for (size_t begin = 0; begin < samples->size(); begin += kSamplesPerEvent) {
      const size_t end = std::min(samples->size(), begin + kSamplesPerEvent);
      const auto from = std::make_move_iterator(samples->begin());
      emit({.at = at,
            .what = Samples{.samples = {from + static_cast<ptrdiff_t>(begin),
                                        from + static_cast<ptrdiff_t>(end)},
                            .unchanged = {}}});
    }
  }
}

void emit_ended(const Emit& emit, Instant at, PollOutcome outcome) {
  emit({.at = at,
        .what = PollEnded{.source = Source::telemetry,
                          .ok = outcome.ok,
                          .unreadable = outcome.unreadable,
                          .detail = std::move(outcome.detail)}});
}

}  // namespace fairlead::prometheus

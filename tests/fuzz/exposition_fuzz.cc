// An exporter's page, from its bytes to samples.
#include <cstdint>

#include "evidence/normalise.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fairlead;
  static const evidence::NodeDirectory kNodes = [] {
    evidence::NodeDirectory nodes;
    nodes.add({.name = "n1", .devices = {{.model = "h100", .count = 8}}});
    return nodes;
  }();
  const Instant now = instant_of_seconds(1'796'025'600);
  evidence::Normaliser normaliser(kNodes, now);
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)evidence::read_exposition(text, [&](const evidence::Point& point) {
    const auto series = normaliser.open(point.metric, point.labels, "n1");
    if (series) normaliser.add(*series, point.at.value_or(now), point.value);
  });
  const auto result = normaliser.finish();
  for (const DeviceSample& sample : result.samples) {
    if (sample.index < 0 || sample.index >= 8 || sample.utilisation_ppm > 1'000'000)
      __builtin_trap();
  }
  return 0;
}

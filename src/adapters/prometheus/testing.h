// For tests: what a poll emitted, as text and as numbers.
#pragma once

#include <gtest/gtest.h>

#include "adapters/prometheus/telemetry_events.h"

namespace fairlead::prometheus {

struct Polled {
  bool began = false;
  std::vector<DeviceSample> samples;
  size_t events = 0;  // with samples
  PollEnded ended;

  Emit into() {
    return [this](Event event) {
      if (const auto* began_event = std::get_if<PollBegan>(&event.what)) {
        EXPECT_EQ(began_event->source, Source::telemetry);
        EXPECT_FALSE(began);
        began = true;
      }
      EXPECT_TRUE(began);
      if (auto* more = std::get_if<Samples>(&event.what)) {
        EXPECT_LE(more->samples.size(), kSamplesPerEvent);
        ++events;
        for (DeviceSample& sample : more->samples) samples.push_back(std::move(sample));
      }
      if (const auto* ended_event = std::get_if<PollEnded>(&event.what)) {
        EXPECT_EQ(ended_event->source, Source::telemetry);
        ended = *ended_event;
      }
    };
  }
};

inline std::shared_ptr<const evidence::NodeDirectory> directory(int nodes, int devices = 8) {
  auto all = std::make_shared<evidence::NodeDirectory>();
  for (int i = 0; i < nodes; ++i)
    all->add({.name = "n" + std::to_string(i), .devices = {{.model = "h100", .count = devices}}});
  return all;
}

}  // namespace fairlead::prometheus

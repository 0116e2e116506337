// For tests: an engine that goes on from a snapshot of another.
#pragma once

#include <gtest/gtest.h>

#include <string_view>
#include <type_traits>

#include "core/engine.h"
#include "core/snapshot.h"

namespace fairlead {

inline Engine restarted(const Engine& engine) {
  StateParts parts;
  for_each_part(engine.state(), [&](const char* name, const auto& part) {
    for_each_member(parts, [&](const char* own, auto& into) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(part)>,
                                   std::remove_cvref_t<decltype(into)>>)
        if (std::string_view(own) == name) into = part;
    });
  });
  Engine next(state_of(std::move(parts)));
  EXPECT_EQ(next.digest(), engine.digest());
  return next;
}

}  // namespace fairlead

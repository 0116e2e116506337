// One screen of `fairlead top`: bars, teams, idle holds, waiting work, as much as fits.
#pragma once

#include <string>
#include <vector>

#include "present/layout.h"
#include "views/report.h"

namespace fairlead {

enum class TopOrder : uint8_t { as_told, gpus, wait, idle, name };

struct TopKey {
  char key;
  TopOrder order;
  std::string_view title;
};
std::span<const TopKey> top_keys();

struct TopOptions {
  TextOptions text;
  int height = 24;
  TopOrder order = TopOrder::as_told;
  bool by_class = false;  // classes in the place of teams
  std::string status;     // what the user must know of the last look; empty: all is well
};

// Returns at most `height` lines, none wider than the screen.
std::vector<std::string> top_lines(Report report, const TopOptions& options);

}  // namespace fairlead

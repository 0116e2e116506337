// Rules side by side, in every form.
#pragma once

#include <string>
#include <vector>

#include "contest/contest.h"
#include "present/layout.h"

namespace fairlead {

struct ContestView {
  std::string apiVersion = "fairlead/v1", kind = "Contest";
  std::string history, organisation, fleet;
  Instant from, until;  // submissions
  int64_t workloads = 0, gpus = 0, seeds = 0;
  std::vector<contest::Score> rules;
  std::vector<std::string> notes;
  std::string digest;
  std::string repeat;  // the command that gives the same digest
  bool operator==(const ContestView&) const = default;
};
BOOST_DESCRIBE_STRUCT(ContestView, (),
                      (apiVersion, kind, history, organisation, fleet, from, until, workloads, gpus,
                       seeds, rules, notes, digest, repeat))

std::string contest_text(const ContestView& view, const TextOptions& options);
Table contest_table(const ContestView& view);  // a row for each rule and group, plain numbers
std::string contest_html(const ContestView& view);

// Parts of both.
std::string over_seeds(int64_t seeds);  // a heading: what the brackets below hold
Table contest_waits_table(const ContestView& view);
Table contest_use_table(const ContestView& view);
Table contest_groups_table(const ContestView& view, bool teams);
Table contest_seeds_table(const ContestView& view);

}  // namespace fairlead

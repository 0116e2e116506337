// What a contest is played on: a fleet, an organisation, and the work of a history.
//
// Of a history each workload that ran becomes one job: when it was submitted, what it held, and for
// how long its last run went. What it could not do in the history it does not do here: a job that
// was cancelled before it began is left out, and so is one that asks for more than the fleet has.
// A rule is told the time limit, where the history states it, else the true length (and the notes
// say so); it is never told the true length beside a limit.
//
// Seconds count from 1970. Jobs stand by submission, then as in the history.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "contest/board.h"
#include "policy/calendar.h"
#include "sim/history.h"

namespace fairlead::contest {

using policy::ClassId;
using policy::TeamId;
using JobIndex = uint32_t;

// How a job may run: on so many devices of a class, and how fast there.
struct Form {
  Gang gang;
  uint32_t shape = 0;             // equal gangs have equal numbers
  int64_t speed_ppm = 1'000'000;  // of that in its own form
  // How long so many seconds of work in its own form take.
  int64_t seconds_for(int64_t work) const;
};

struct Job {
  int64_t submit = 0;
  int64_t length = 1;  // of the run that it needs
  int64_t limit = 1;   // as a rule is told it
  Gang gang;
  uint32_t shape = 0;
  TeamId team = 0;
  ClassId klass = 0;
  uint32_t name = 0;                     // place in the history's order
  uint32_t others_from = 0, others = 0;  // in Match::others: forms that it accepts beside its own
  // In the history:
  int64_t began = 0, ended = 0;  // of its last run; 0: not known
  int32_t requeues = 0;
  int64_t lost = 0;  // device-seconds of the runs before
};

struct Match {
  policy::Organisation organisation;
  policy::Zones zones;  // of its windows
  std::vector<NodeGroup> fleet;
  std::vector<Job> jobs;
  uint32_t shapes = 0;
  bool native = false;           // the history states when jobs began
  bool own_entitlement = false;  // else nobody owns anything, and shares go by weight
  std::vector<std::string> notes;
  std::vector<Form> others = {};  // of jobs that accept other devices; as many as they ask for
  int64_t round = 0;              // seconds: a rule looks at multiples of it; 0: at every change

  // Its own is the first.
  size_t forms_of(const Job& job) const { return size_t{1} + job.others; }
  Form form_of(const Job& job, size_t index) const;
  std::optional<size_t> form_on(const Job& job, DeviceId device) const;  // its index
  Board board() const { return Board(fleet, organisation.devices.size()); }
};

// A fleet as text: "32 x 8 H100, 16 x 4 A100" (nodes x devices model), or a file's lines of that
// form, with # comments, or a table with the columns nodes, gpus, model.
struct FleetPart {
  int32_t nodes = 0, each = 0;
  std::string model;
  bool operator==(const FleetPart&) const = default;
};
// Fails with fleet-bad, at its line.
Result<std::vector<FleetPart>> read_fleet(std::string_view text, const std::string& source);
std::string to_text(const std::vector<FleetPart>& fleet);

void sort_by_submission(std::vector<Job>& jobs);
bool anybody_owns(const policy::Organisation& organisation);  // below the root

struct MatchOptions {
  std::optional<policy::Organisation>
      organisation;  // else a team for each account, of equal weight
  policy::Zones zones;
  std::vector<FleetPart> fleet;  // none: deduced
};

// Fails with contest-no-jobs, contest-fleet.
Result<Match> match_of(const History& history, const MatchOptions& options);

}  // namespace fairlead::contest

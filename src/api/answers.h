// Answers that are the API's own; the others are views.
#pragma once

#include <string>
#include <vector>

#include "model/decision.h"
#include "model/organisation.h"
#include "views/report.h"

namespace fairlead {

struct Problem {  // RFC 9457
  std::string type, title;
  int status = 0;
  std::string detail, code;
  bool operator==(const Problem&) const = default;
};
BOOST_DESCRIBE_STRUCT(Problem, (), (type, title, status, detail, code))

struct SiteRow {
  std::string site, scheduler, release;
  Stage stage = Stage::observe;
  Instant as_of;
  bool scheduler_ok = false, telemetry_ok = false;
  int64_t gpus = 0;
  std::string store;  // empty: nothing is kept
  std::string journal_problem;
  std::string organisation;          // "acme v7"; empty: none is known
  std::string organisation_problem;  // why its files are not what is in force
  std::vector<SourceRow> sources;
  bool operator==(const SiteRow&) const = default;
};
BOOST_DESCRIBE_STRUCT(SiteRow, (),
                      (site, scheduler, release, stage, as_of, scheduler_ok, telemetry_ok, gpus,
                       store, journal_problem, organisation, organisation_problem, sources))

struct SiteList {
  std::string apiVersion = "fairlead/v1", kind = "SiteList";
  std::string version;  // of the daemon
  Instant started, now;
  std::vector<SiteRow> sites;
  bool operator==(const SiteList&) const = default;
};
BOOST_DESCRIBE_STRUCT(SiteList, (), (apiVersion, kind, version, started, now, sites))

struct DecisionList {
  std::string apiVersion = "fairlead/v1", kind = "DecisionList";
  std::vector<Decision> decisions;
  bool operator==(const DecisionList&) const = default;
};
BOOST_DESCRIBE_STRUCT(DecisionList, (), (apiVersion, kind, decisions))

}  // namespace fairlead

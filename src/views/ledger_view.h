// The ledger as a table, and the proof that it adds up.
#pragma once

#include <string>
#include <vector>

#include "core/engine.h"
#include "views/report.h"

namespace fairlead {

struct LedgerViewRow {
  Instant hour;
  std::string model, team, klass, user, partition;
  Column column = Column::free;
  int64_t gpu_milliseconds = 0;  // thousandths of a GPU-second
  bool operator==(const LedgerViewRow&) const = default;
};
BOOST_DESCRIBE_STRUCT(LedgerViewRow, (),
                      (hour, model, team, klass, user, partition, column, gpu_milliseconds))

struct LedgerView {
  std::string apiVersion = "fairlead/v1", kind = "Ledger";
  std::string site;
  Instant from, to;
  std::vector<LedgerViewRow> rows;
  bool operator==(const LedgerView&) const = default;
};
BOOST_DESCRIBE_STRUCT(LedgerView, (), (apiVersion, kind, site, from, to, rows))

LedgerView ledger_of(const State& state, Instant from);

struct LedgerCheck {
  std::string apiVersion = "fairlead/v1", kind = "LedgerCheck";
  std::string site;
  Instant from, to;
  bool adds_up = false;
  int64_t hours = 0, accounts = 0;
  ColumnSeconds gpu_seconds;
  int64_t hardware_gpu_seconds = 0;  // counted apart from the columns
  std::string problem;               // what does not agree
  std::string digest;
  bool operator==(const LedgerCheck&) const = default;
};
BOOST_DESCRIBE_STRUCT(LedgerCheck, (),
                      (apiVersion, kind, site, from, to, adds_up, hours, accounts, gpu_seconds,
                       hardware_gpu_seconds, problem, digest))

LedgerCheck check_ledger(const Engine& engine);

}  // namespace fairlead

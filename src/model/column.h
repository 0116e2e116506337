// The columns of the ledger and the kinds of idle hold.
//
// At every instant each device is in exactly one column (docs/design/ledger.md).
#pragma once

#include <array>
#include <cstdint>

#include "base/describe.h"

namespace fairlead {

enum class Column : uint8_t {
  useful,           // held, and evidence says that it works
  held_idle,        // held, and evidence says that it does not
  held_unmeasured,  // held, and nobody can say
  lost,             // was useful, then thrown away by an eviction or a failure
  reserved,         // not held, kept for a reservation
  free,             // not held, could be
  stranded,         // not held, and no waiting shape fits on it
  down,             // not usable: node down, drained, failed, in maintenance, not answering
};
BOOST_DESCRIBE_ENUM(Column, useful, held_idle, held_unmeasured, lost, reserved, free, stranded,
                    down)

inline constexpr size_t kColumns = 8;

inline constexpr bool is_held(Column c) {
  return c == Column::useful || c == Column::held_idle || c == Column::held_unmeasured;
}

// A number for each column, e.g. seconds. Written as an object with the columns' names.
struct ByColumn {
  int64_t useful = 0, held_idle = 0, held_unmeasured = 0, lost = 0;
  int64_t reserved = 0, free = 0, stranded = 0, down = 0;

  int64_t& operator[](Column c) {
    int64_t* const fields[] = {&useful,   &held_idle, &held_unmeasured, &lost,
                               &reserved, &free,      &stranded,        &down};
    return *fields[static_cast<size_t>(c)];
  }
  int64_t operator[](Column c) const { return const_cast<ByColumn&>(*this)[c]; }
  int64_t total() const {
    return useful + held_idle + held_unmeasured + lost + reserved + free + stranded + down;
  }
  int64_t held() const { return useful + held_idle + held_unmeasured + lost; }
  ByColumn& operator+=(const ByColumn& other) {
    for (size_t c = 0; c < kColumns; ++c)
      (*this)[static_cast<Column>(c)] += other[static_cast<Column>(c)];
    return *this;
  }
  bool operator==(const ByColumn&) const = default;
};
BOOST_DESCRIBE_STRUCT(ByColumn, (),
                      (useful, held_idle, held_unmeasured, lost, reserved, free, stranded, down))

// Why a held device is idle, in the order in which they are tried (docs/design/idle-hold.md).
enum class IdleKind : uint8_t {
  none,
  failed_peer,     // a worker of its gang is gone and the others wait: a fault, not a waste
  stuck,           // reports 100 % while clock, power and units show that nothing moves
  never_used,      // not active since the run began
  no_process,      // was active, and no process holds its memory any more
  used_then_idle,  // was active, a process still holds it
  idle,            // idle since we first looked; what its run did before that was not seen
};
BOOST_DESCRIBE_ENUM(IdleKind, none, failed_peer, stuck, never_used, no_process, used_then_idle,
                    idle)
inline constexpr IdleKind kIdleKindLast = IdleKind::idle;

}  // namespace fairlead

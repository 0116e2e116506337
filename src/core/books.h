// Keeps each device in its column.
//
// The one place that says which column a device is in (`column_of`), and the one that moves it.
#pragma once

#include <algorithm>

#include "core/state.h"
#include "fabric/shape.h"

namespace fairlead {

// Follows from facts alone: holder, node, evidence.
Column column_of(const State& state, DeviceIndex device);

// Moves the device to the column that the facts say, from `at` on, or from the last move if that is
// later. Does nothing where it is in the right account.
void refresh(State& state, DeviceIndex device, Instant at);
void refresh_node(State& state, NodeIndex node, Instant at);
void refresh_all(State& state, Instant at);

void add_device(State& state, DeviceIndex device, Instant at);
void remove_device(State& state, DeviceIndex device, Instant at);  // its holder keeps the rest

// Closes the hours that are over, in the ledger and in what runs have used.
void advance_books(State& state, Instant at);

// Devices held on nodes that nobody stated: they are evidently there, so they count as hardware.
void hold_unplaced(State& state, Workload& workload, int64_t milli, Instant at);

void hold(State& state, Workload& workload, DeviceIndex device, Instant at);
void release(State& state, DeviceIndex device, Instant at);

// Moves what the present run did to `lost`. Returns the device-seconds.
int64_t lose_work(State& state, Workload& workload);

// What is held was not seen since `last_seen`: from then on, or from its last move if that is
// later, nobody can say what it did.
void unmeasure(State& state, Workload& workload, Instant last_seen);

// Puts the present run's use into rows of its hours. Requires: the run is over.
void fold_use(State& state, Workload& workload);

// Calls f(hour, seconds) for each part of [from, until) that lies in one hour.
template <class F>
void for_each_hour(int64_t from, int64_t until, F&& f) {
  while (from < until) {
    const int64_t hour = from / kLedgerHour * kLedgerHour;
    const int64_t end = std::min(hour + kLedgerHour, until);
    f(hour, end - from);
    from = end;
  }
}

// Takes `amount` milli-seconds of an hour out of what was not held in it, as far as there is any.
// Returns what it took; the caller adds that to what the run has used.
int64_t take_from_unheld(State& state, const Account& to, int64_t hour, int64_t amount);

// A run whose devices were booked to others after it had begun, since nobody looked: its first
// seconds are taken from what those hours had free.
void hold_from_start(State& state, Workload& workload);

// Puts the workload under another team and class, and what its present run has used with it.
void rebook(State& state, Workload& workload, NameId team, NameId klass);

// Adds the present run's use to `before` and starts anew.
void close_use(State& state, Workload& workload);

// Marks the free devices on whose node no waiting shape fits.
void mark_stranded(State& state, Instant at);

// Which nodes belong to the partitions of `list` (comma-separated), by NodeIndex.
std::vector<bool> members_of(const State& state, const std::string& list);
std::vector<NodeRoom> rooms_of(const State& state);

}  // namespace fairlead

// Keeps each device in its column.
//
// The one place that says which column a device is in (`column_of`), and the one that moves it.
#pragma once

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

// Adds the present run's use to `before` and starts anew.
void close_use(State& state, Workload& workload);

// Marks the free devices on whose node no waiting shape fits.
void mark_stranded(State& state, Instant at);

// Which nodes belong to the partitions of `list` (comma-separated), by NodeIndex.
std::vector<bool> members_of(const State& state, const std::string& list);
std::vector<NodeRoom> rooms_of(const State& state);

}  // namespace fairlead

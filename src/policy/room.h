// Where work could stand. The planner asks, and tells what it gave away and took back.
//
// A room knows nothing of teams: what is free here may still be denied by a quota. What fits now
// fits no more easily after a take(), so a planner that only takes need not ask twice.
#pragma once

#include <span>
#include <vector>

#include "policy/work.h"

namespace fairlead::policy {

class Room {
 public:
  virtual ~Room() = default;

  virtual Milli free(DeviceId device) const = 0;  // counted, wherever they stand
  virtual bool fits(const Work& work) const = 0;
  // Whether `work` would fit if these were gone. Changes nothing.
  virtual bool fits_without(const Work& work, std::span<const RunningWork* const> gone) const = 0;

  virtual void take(const Work& work) = 0;              // Requires: it fits.
  virtual void give_back(const RunningWork& gone) = 0;  // Requires: it was there, or was taken.
};

// Devices that are alike: where they stand is of no account.
class CountedRoom : public Room {
 public:
  explicit CountedRoom(std::vector<Milli> free) : free_(std::move(free)) {}

  Milli free(DeviceId device) const override { return free_[device]; }
  bool fits(const Work& work) const override { return work.size <= free_[work.device]; }
  bool fits_without(const Work& work, std::span<const RunningWork* const> gone) const override;
  void take(const Work& work) override { free_[work.device] = free_[work.device] - work.size; }
  void give_back(const RunningWork& gone) override;

 private:
  std::vector<Milli> free_;  // by device
};

}  // namespace fairlead::policy

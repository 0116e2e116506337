// A board as the planner's room: where work could stand, by best fit on nodes.
#pragma once

#include <unordered_map>

#include "contest/arena.h"
#include "policy/room.h"

namespace fairlead::contest {

// Of one look: begins as the arena's board is, and follows what the planner gives and takes. The
// number of a work's shape is that of the job's form, and its id the job's index.
class BoardRoom : public policy::Room {
 public:
  explicit BoardRoom(const Arena& arena) : arena_(arena), board_(arena.board()) {}

  policy::Milli free(DeviceId device) const override {
    return policy::devices(board_.free(device));
  }
  bool fits(const policy::Work& work) const override { return board_.fits(gang_of(work)); }
  bool fits_without(const policy::Work& work,
                    std::span<const policy::RunningWork* const> gone) const override;
  void take(const policy::Work& work) override;
  void give_back(const policy::RunningWork& gone) override;

  // Where work stands that was taken. Requires: it was.
  const Places& taken(JobIndex job) const { return taken_.at(job); }

 private:
  // In the form that stands on the work's class of devices.
  Gang gang_of(const policy::Work& work) const;
  const Places& places_of(const policy::Work& work) const;

  const Arena& arena_;
  Board board_;
  mutable std::vector<int32_t> free_;  // by node: of the question that is asked, for its room
  std::unordered_map<JobIndex, Places> taken_;
};

}  // namespace fairlead::contest

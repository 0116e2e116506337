// The nodes of a site as a planner's Room: where work of the organisation's classes could stand.
//
// Each model has a capacity index (fabric/capacity_index.h), and a gang stands on nodes of one
// model. What a request says of where it may run (partition, features, nodes named or left out) is
// a mask, made once for each Shape and kept until nodes or partitions are others. Requests that are
// alike have one number, which is the `shape` of their Work.
//
// A Visit is one look: whatever it takes and gives back is undone when it goes, so a look costs
// what it asks and nothing is copied.
//
// Requires, of all: the state knows an organisation. One visit at a time.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/made_room.h"
#include "core/running_work.h"
#include "core/stand.h"
#include "core/state.h"
#include "fabric/domain_tree.h"
#include "fabric/overlay.h"
#include "policy/room.h"

namespace fairlead {

// Chosen: from how many nodes others may be moved, the emptiest first, and how many are looked at
// for that.
constexpr size_t kNodesAsked = 64;
constexpr size_t kNodesSeen = 1024;
constexpr int kNodesCleared = 4;  // chosen: for one gang

class SiteRoom {
 public:
  explicit SiteRoom(const State& state);

  // Takes over what is free and what serves. False where nodes, partitions or switches are others
  // now: then a room is made anew, and numbers of shapes are, too.
  bool refresh(const State& state);

  // What is not as a count from scratch has it, or an empty text; null: not asked of the books.
  // Cost: O(nodes).
  std::string recount(const State* books) const;

  // 0: nothing of the organisation's could ever serve it.
  uint32_t number_of(const State& state, const Job& job);
  const std::map<Shape, uint32_t>& numbers() const { return numbers_; }
  void forget(const Job& job);  // its number, if it is the newest
  policy::DeviceId device_of(uint32_t number) const { return known_[number - 1].device; }

  class Visit;

 private:
  struct Pool {  // of one model
    policy::DeviceId device = 0;
    std::string model;
    CapacityIndex index;
    bool states_sides = false;  // some node says how many CPUs it has
  };
  struct Place {  // of a shape, in one pool
    size_t pool = 0;
    NodeMask mask;
    Gang gang;  // without its mask, since that may move
    Gang where() const;
  };
  struct Known {
    policy::DeviceId device = 0;
    std::vector<Place> places;
  };

  static int32_t free_on(const State& state, const Pool& pool, NodeIndex node);
  // As if nothing ran: what a shape could ever use.
  static std::vector<NodeIndex> nodes_for(const State& state, const Shape& shape);

  std::vector<Pool> pools_;
  std::vector<Known> known_;  // by number - 1
  std::map<Shape, uint32_t> numbers_;
  Digest fabric_;  // of what nodes, partitions and switches say of themselves
};

class SiteRoom::Visit : public policy::Room {
 public:
  Visit(SiteRoom& room, const State& state);

  policy::Milli free(policy::DeviceId device) const override;
  bool fits(const policy::Work& work) const override;
  bool fits_without(const policy::Work& work,
                    std::span<const policy::RunningWork* const> gone) const override;
  void take(const policy::Work& work) override;
  void give_back(const policy::RunningWork& gone) override;

  // Where it could stand, at most so many places. Changes nothing.
  Stands stands_for(const policy::Work& work, size_t most);

  // Room for it by moves of others to nodes that they could have been started on: the one that
  // loses the least, of those that were tried. Nothing: none was found, or it may lie anywhere.
  // Under a limit of switches it may be missed. Changes nothing. Requires: it does not fit.
  std::optional<MadeRoom> make_room(const policy::Work& work, const PriceOfMove& price);
  // False where it does not fit there now: then this visit is of no further use.
  bool move(const MovedWork& moved);

  // Where take() put it, ascending.
  std::vector<NodeIndex> nodes_of(policy::WorkId id) const;

 private:
  class Mover;  // site_moves.cc
  struct Taken {
    size_t pool = 0;
    Gang gang;
    Placement placement;
  };
  struct Held {  // devices on a node
    size_t pool = 0;
    Grant grant;
  };
  std::optional<Taken> find(const policy::Work& work) const;
  std::vector<Held> held_by(policy::WorkId id) const;
  RoomLeft left_of(const policy::Work& work) const;
  Stand stand_of(const policy::Work& work, const Taken& taken, const FleetTree& tree);

  SiteRoom& room_;
  const State& state_;
  std::vector<std::unique_ptr<Overlay>> overlays_;  // by pool
  std::map<policy::WorkId, Taken> taken_;
  // Where the last that was asked about would stand, by its shape, as long as nothing has changed:
  // who fits is taken next.
  mutable uint32_t found_shape_ = 0;  // 0: nothing is kept
  mutable Taken found_;
};

}  // namespace fairlead

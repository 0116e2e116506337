// What if: changes of a CapacityIndex that are undone when the overlay goes.
//
// Nothing is copied: the index itself is changed, and each change has its exact opposite, which is
// kept. While an overlay lives the index answers as if the changes were real; afterwards it is
// equal to what it was, and so is everything that is counted in it. Overlays may be nested; the
// inner one goes first. Cost: that of the changes, twice.
//
// Requires: nobody else changes the index, or asks it about what is real, while an overlay lives.
#pragma once

#include <utility>
#include <vector>

#include "fabric/capacity_index.h"

namespace fairlead {

class Overlay {
 public:
  explicit Overlay(CapacityIndex& index) : index_(index) {}
  ~Overlay() { undo(); }
  Overlay(const Overlay&) = delete;
  Overlay& operator=(const Overlay&) = delete;

  const CapacityIndex& index() const { return index_; }

  void take(const Grant& grant, const Gang& gang) {
    index_.take(grant, gang);
    changes_.push_back({.what = What::taken, .grant = grant, .gang = gang});
  }
  void give_back(const Grant& grant, const Gang& gang) {
    index_.give_back(grant, gang);
    changes_.push_back({.what = What::given_back, .grant = grant, .gang = gang});
  }
  void take(const Placement& placement, const Gang& gang) {
    for (const Grant& grant : placement.grants) take(grant, gang);
  }
  void give_back(const Placement& placement, const Gang& gang) {
    for (const Grant& grant : placement.grants) give_back(grant, gang);
  }
  void set_in_service(Position at, bool in_service) {
    if (in_service == index_.in_service(at)) return;
    index_.set_in_service(at, in_service);
    changes_.push_back({.what = in_service ? What::put_in : What::put_out, .grant = {.at = at}});
  }

  void undo() {
    for (; !changes_.empty(); changes_.pop_back()) {
      const Change& c = changes_.back();
      switch (c.what) {
        case What::taken:
          index_.give_back(c.grant, c.gang);
          break;
        case What::given_back:
          index_.take(c.grant, c.gang);
          break;
        case What::put_in:
          index_.set_in_service(c.grant.at, false);
          break;
        case What::put_out:
          index_.set_in_service(c.grant.at, true);
          break;
      }
    }
  }
  // The changes stay, and are nobody's to undo.
  void keep() { changes_.clear(); }

 private:
  enum class What : uint8_t { taken, given_back, put_in, put_out };
  struct Change {
    What what{};
    Grant grant;
    Gang gang;
  };
  CapacityIndex& index_;
  std::vector<Change> changes_;
};

}  // namespace fairlead

// Who waits and who holds, in the orders that are asked for at every turn.
//
// All of it follows from the workloads: it is kept up with every statement about a job and made
// anew after a snapshot, and neither snapshot nor digest holds it. An entry is found by what the
// workload says of itself, so it is taken out before the workload changes and put in again
// afterwards. Cost: O(log waiting) a change; the rank of a waiting workload in its partition O(log
// waiting).
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <ext/pb_ds/assoc_container.hpp>
#include <ext/pb_ds/tree_policy.hpp>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "core/workload.h"
#include "fabric/shape.h"

namespace fairlead {

class Queues {
 public:
  // Highest priority first; of equal ones the lowest number, as Slurm breaks ties.
  using Place = std::tuple<int64_t, uint32_t, WorkloadId>;
  static Place place_of(const Workload& w) { return {-w.job.priority, number_of(w.job), w.id}; }

  void add(const Workload& workload);
  void remove(const Workload& workload);
  void clear() { *this = {}; }

  const std::set<WorkloadId>& holding() const { return holding_; }
  const std::set<Place>& waiting() const { return waiting_; }

  // How many have vanished and are not settled.
  size_t unsettled() const { return unsettled_; }

  // Shapes with devices that wait, and how many tasks have each.
  const std::map<Shape, int64_t>& waiting_shapes() const { return shapes_; }

  // By the scheduler's own name ("4240_7") or the number of its record.
  std::optional<WorkloadId> find(std::string_view label) const;

  // How many workloads come before `workload` in the partition and compete with it for room.
  int64_t ahead_in(const std::string& partition, const Workload& workload) const;

  // Calls f(id) for the first of them, at most `most`.
  void for_each_ahead(const std::string& partition, const Workload& workload, size_t most,
                      const std::function<void(WorkloadId)>& f) const;

 private:
  using Ranks =
      __gnu_pbds::tree<Place, __gnu_pbds::null_type, std::less<Place>, __gnu_pbds::rb_tree_tag,
                       __gnu_pbds::tree_order_statistics_node_update>;

  // Of the record that stands for what waits of an array or of a heterogeneous job: its number.
  static uint32_t number_of(const Job& job) {
    return job.het_id != 0 ? job.het_id : job.array.id != 0 ? job.array.id : job.id;
  }

  boost::unordered_flat_map<std::string, WorkloadId> by_label_;
  boost::unordered_flat_map<uint32_t, WorkloadId> by_number_;
  std::set<WorkloadId> holding_;
  size_t unsettled_ = 0;
  std::set<Place> waiting_;
  std::map<Shape, int64_t> shapes_;
  std::map<std::string, Ranks> competing_;  // by partition
};

// Waits for room, as far as its scheduler's word tells: not held, not for a date, a job or a limit.
bool competes(const Job& job);

// Calls f(name) for each name of a list with commas.
template <class F>
void for_each_name(std::string_view list, F&& f) {
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    f(std::string(list.substr(0, comma)));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
}

}  // namespace fairlead

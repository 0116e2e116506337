// Where openb's pods ran is not published. With the fleet known a place is made up, and said so:
// the first node in the list's order with room for the pod's devices, at the second it was
// scheduled.
//
// Whole devices are held by the pods themselves. A device that is shared is held as a whole, by one
// holder for all its shares, from the first share to the last: the books know no holder of a part
// of a device that is a device of the fleet.
#include <fmt/format.h>

#include <algorithm>
#include <queue>
#include <tuple>

#include "sim/history_read.h"

namespace fairlead {
namespace {

class Placer {
 public:
  explicit Placer(HistoryBuilder& builder) : builder_(builder), runs_(builder.table().runs()) {
    for (const Node& node : builder.fleet()) {
      const int32_t count = node.devices.empty() ? 0 : node.devices[0].count;
      nodes_.push_back({.model = node.devices.empty() ? "" : node.devices[0].model,
                        .used = std::vector<int32_t>(static_cast<size_t>(count), 0),
                        .since = std::vector<int64_t>(static_cast<size_t>(count), 0)});
    }
  }

  void place_all() {
    std::vector<uint32_t> order;
    for (uint32_t i = 0; i < runs_.size(); ++i) {
      if (runs_[i].start != 0 && runs_[i].devices_held > 0) order.push_back(i);
    }
    std::ranges::sort(order, [&](uint32_t a, uint32_t b) {
      return std::tie(runs_[a].start, a) < std::tie(runs_[b].start, b);
    });
    for (const uint32_t i : order) {
      give_back(runs_[i].start);
      place(i);
    }
    give_back(INT64_MAX);
    runs_.insert(runs_.end(), holders_.begin(), holders_.end());
    builder_.remark(
        "where pods ran is not published: each is put on the first node with room for its devices");
    if (!holders_.empty())
      builder_.remark(
          fmt::format("a shared device is held whole while any pod shares it: {} holders of team "
                      "'shared devices' stand for the shares",
                      holders_.size()));
    if (unplaced_ > 0)
      builder_.remark(
          fmt::format("{} pods found no room so: their devices count beside the fleet", unplaced_));
  }

 private:
  struct Room {
    std::string model;
    std::vector<int32_t> used;   // thousandths of each device
    std::vector<int64_t> since;  // a shared device's first share
  };
  struct Placed {
    int64_t end;
    uint32_t node;
    int32_t first, count, milli;
    friend bool operator>(const Placed& a, const Placed& b) {
      return std::tie(a.end, a.node, a.first) > std::tie(b.end, b.node, b.first);
    }
  };

  bool allowed(const HistoryRun& run, const Room& room) const {
    std::string_view spec = builder_.table().name(run.models_allowed);
    if (spec.empty()) return true;
    while (!spec.empty()) {
      if (take_field(spec, '|') == room.model) return true;
    }
    return false;
  }

  // The first device from which `count` neighbours have `milli` left; -1: none.
  static int32_t first_fit(const Room& room, int32_t count, int32_t milli) {
    int32_t found = 0;
    for (int32_t d = 0; d < static_cast<int32_t>(room.used.size()); ++d) {
      found = room.used[static_cast<size_t>(d)] + milli <= 1000 ? found + 1 : 0;
      if (found == count) return d - count + 1;
    }
    return -1;
  }

  void place(uint32_t i) {
    HistoryRun& run = runs_[i];
    const int32_t milli = run.share_milli > 0 ? run.share_milli : 1000;
    for (uint32_t n = 0; n < nodes_.size(); ++n) {
      Room& room = nodes_[n];
      if (!allowed(run, room)) continue;
      const int32_t first = first_fit(room, run.devices_held, milli);
      if (first < 0) continue;
      for (int32_t d = first; d < first + run.devices_held; ++d) {
        if (room.used[static_cast<size_t>(d)] == 0) room.since[static_cast<size_t>(d)] = run.start;
        room.used[static_cast<size_t>(d)] += milli;
      }
      run.nodes = builder_.table().put(builder_.fleet()[n].name);
      run.device_first = run.share_milli > 0 ? kPlacedElsewhere : first;
      placed_.push({run.open ? INT64_MAX : run.end, n, first, run.devices_held, milli});
      return;
    }
    ++unplaced_;
  }

  void give_back(int64_t until) {
    while (!placed_.empty() && placed_.top().end <= until) {
      const Placed p = placed_.top();
      placed_.pop();
      Room& room = nodes_[p.node];
      for (int32_t d = p.first; d < p.first + p.count; ++d) {
        int32_t& used = room.used[static_cast<size_t>(d)];
        used -= p.milli;
        if (used == 0 && p.milli < 1000) add_holder(p, d, room.since[static_cast<size_t>(d)]);
      }
    }
  }

  void add_holder(const Placed& p, int32_t device, int64_t since) {
    RunTable& table = builder_.table();
    const std::string& node = builder_.fleet()[p.node].name;
    HistoryRun run{.submit = since, .start = since, .end = p.end == INT64_MAX ? 0 : p.end};
    run.id = static_cast<uint32_t>(runs_.size() + holders_.size() + 1);
    run.label = table.put(fmt::format("shared:{}/{}", node, device));
    run.nodes = table.put(node);
    run.account = table.names().intern("shared devices");
    run.devices_asked = run.devices_held = 1;
    run.device_first = device;
    run.open = p.end == INT64_MAX;
    run.state = run.open ? JobState::running : JobState::completed;
    holders_.push_back(run);
  }

  HistoryBuilder& builder_;
  std::vector<HistoryRun>& runs_;
  std::vector<Room> nodes_;
  std::vector<HistoryRun> holders_;
  std::priority_queue<Placed, std::vector<Placed>, std::greater<>> placed_;
  int64_t unplaced_ = 0;
};

}  // namespace

void place_pods(HistoryBuilder& builder) { Placer(builder).place_all(); }

}  // namespace fairlead

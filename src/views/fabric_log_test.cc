#include "views/fabric_log.h"

#include <gtest/gtest.h>

namespace fairlead {
namespace {

Instant at(int64_t second) { return instant_of_seconds(1'000'000 + second); }

class Site {
 public:
  void state(const Node& node, int64_t second) {
    state_.fleet.state(node, at(second), state_.names);
    look(second);
  }
  void remove(std::string_view node, int64_t second) {
    state_.fleet.remove(node);
    look(second);
  }
  // "n1 service: in service -> idle+drain", one a line.
  std::string diff(int64_t from, int64_t to) const {
    const auto diff = log_.between(at(from), at(to));
    if (!diff) return diff.error().code;
    std::string text;
    for (const FabricChange& c : diff->changes)
      text += c.node + " " + c.what + ": " + c.before + " -> " + c.after + "\n";
    return text;
  }

 private:
  void look(int64_t second) {
    state_.source(Source::scheduler).last_ok = at(second);
    log_.note(state_);
  }
  State state_;
  FabricLog log_;
};

Node node(std::string name) {
  return {.name = std::move(name), .state = NodeState::idle, .devices = {{"h100", 8}}, .cpus = 64};
}

TEST(FabricLog, TellsWhatChangedAndWhen) {
  Site site;
  site.state(node("n1"), 10);
  Node drained = node("n1");
  drained.drain = true;
  drained.reason = "fan";
  site.state(drained, 20);
  site.state(node("n2"), 30);
  site.remove("n2", 40);
  EXPECT_EQ(site.diff(10, 20), "n1 reason:  -> fan\nn1 service: in service -> in service+drain\n");
  EXPECT_EQ(site.diff(20, 30), "n2 node: absent -> present\n");
  EXPECT_EQ(site.diff(30, 40), "n2 node: present -> absent\n");
}

TEST(FabricLog, WhatWentBackIsNoChange) {
  Site site;
  site.state(node("n1"), 10);
  Node drained = node("n1");
  drained.drain = true;
  site.state(drained, 20);
  site.state(node("n1"), 30);
  EXPECT_EQ(site.diff(10, 30), "");
  EXPECT_EQ(site.diff(20, 30), "n1 service: in service+drain -> in service\n");
}

TEST(FabricLog, LoadIsNoFact) {
  Site site;
  site.state(node("n1"), 10);
  Node busy = node("n1");
  busy.state = NodeState::mixed;
  busy.cpus_used = 32;
  site.state(busy, 20);
  EXPECT_EQ(site.diff(10, 20), "");
}

TEST(FabricLog, BeforeTheFirstLookNothingIsKnown) {
  Site site;
  EXPECT_EQ(site.diff(0, 5), "fabric-not-known");
  site.state(node("n1"), 10);
  EXPECT_EQ(site.diff(9, 10), "fabric-not-known");
  EXPECT_EQ(site.diff(10, 10), "");
}

TEST(FabricLog, SavedViewsAreComparedInTheSameWay) {
  Fabric before{.as_of = at(1),
                .nodes = {{.node = "n1", .state = "idle", .models = "8xh100"},
                          {.node = "n2", .state = "idle"}}};
  Fabric after{.as_of = at(2),
               .nodes = {{.node = "n1", .state = "mixed", .models = "7xh100"},
                         {.node = "n3", .state = "idle"}}};
  const FabricDiff diff = diff_of(before, after);
  ASSERT_EQ(diff.changes.size(), 3u);
  EXPECT_EQ(diff.changes[0].after, "7xh100");
  EXPECT_EQ(diff.changes[1].after, "absent");
  EXPECT_EQ(diff.changes[2].after, "present");
  EXPECT_EQ(diff.from, at(1));
}

}  // namespace
}  // namespace fairlead

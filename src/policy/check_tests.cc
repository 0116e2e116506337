// In-file tests: whether they can be so, not whether they hold.
#include <fmt/format.h>

#include <algorithm>

#include "base/words.h"
#include "policy/check_parts.h"

namespace fairlead::policy {
namespace {

using lang::in_quotes;

class TestCheck {
 public:
  TestCheck(CheckContext& context, const TestNode& node) : c(context), test(node) {}

  void run() {
    if (test.fleet.empty()) {
      c.error("E813", "this test has no fleet", {test.head, ""},
              "write `fleet 4 nodes of 8 H100` first");
    }
    for (const FleetPartNode& part : test.fleet) {
      Milli& sum = fleet[part.each.device.value];
      sum = sum + Milli{part.each.amount.value * part.nodes.value};
      if (sum <= devices(kDevicesMax)) continue;
      c.error("E813",
              fmt::format("the fleet of this test has more than {} {}", kDevicesMax,
                          part.each.device.value),
              {part.each.span, ""}, "write a smaller fleet");
    }
    if (test.expects.empty()) {
      c.error("E813", "this test expects nothing, so it cannot fail", {test.head, ""},
              "write what should happen, as in `expect admit w1`");
    }
    for (const WorkNode& work : test.work) check(work);
    for (const ExpectNode& expect : test.expects) check(expect);
    for (const auto& [device, count] : running) {
      if (test.fleet.empty() || count <= fleet[device]) continue;
      c.error("E813",
              fmt::format("{} run, and the fleet has {}", amount_text(count, device),
                          to_text(fleet[device])),
              {test.head, ""}, "enlarge the fleet, or let less run");
    }
  }

 private:
  void check(const WorkNode& work) {
    const auto [first, is_first] = by_name.emplace(work.name.value, &work);
    if (!is_first) {
      c.error("E811", fmt::format("there are two workloads {}", in_quotes(work.name.value)),
              {work.name.span, "second time"}, "give one of them another name",
              {{first->second->name.span, "first time"}});
    }
    const auto team = c.team(work.team);
    const auto klass = work.klass ? c.klass(*work.klass) : std::nullopt;
    if (team && klass && !std::ranges::binary_search(c.org.teams[*team].classes, *klass)) {
      c.error("E813",
              fmt::format("team {} does not allow class {}", in_quotes(work.team.value),
                          in_quotes(work.klass->value)),
              {work.klass->span, ""}, "name it in `classes` of the team");
    }
    if (team && !work.klass && !c.org.teams[*team].default_class) {
      c.error("E813",
              fmt::format("the class of {} is not said, and team {} has no default",
                          in_quotes(work.name.value), in_quotes(work.team.value)),
              {work.name.span, ""}, "write `class NAME` behind the team");
    }
    check_device(work);
  }

  void check_device(const WorkNode& work) {
    if (test.fleet.empty()) return;
    std::vector<std::string> names;
    for (const auto& [name, count] : fleet) names.push_back(name);
    if (!work.device && fleet.size() > 1) {
      c.error("E813",
              fmt::format("the fleet has several devices; {} does not say which it wants",
                          in_quotes(work.name.value)),
              {work.dims, "of which?"},
              fmt::format("write `{} x {} {}`", work.nodes, work.each, names.front()));
      return;
    }
    const std::string device = work.device ? work.device->value : names.front();
    if (!fleet.contains(device)) {
      c.error("E813", fmt::format("the fleet of this test has no {}", device),
              {work.device->span, ""}, fmt::format("it has {}", fmt::join(names, ", ")));
      return;
    }
    if (work.running) running[device] = running[device] + devices(work.nodes * work.each);
  }

  void check(const ExpectNode& expect) {
    const Word& name = expect.on ? *expect.on : expect.name;
    const auto found = by_name.find(name.value);
    if (found == by_name.end()) {
      std::vector<std::string> names;
      for (const auto& [known, work] : by_name) names.push_back(known);
      const auto meant = nearest_word(name.value, names);
      c.error("E813", fmt::format("there is no workload {} in this test", in_quotes(name.value)),
              {name.span, ""},
              !meant.empty()  ? fmt::format("did you mean {}?", in_quotes(meant))
              : names.empty() ? "write it first: `waiting w1 of research 4 x 8`"
                              : fmt::format("known: {}", fmt::join(names, ", ")));
      return;
    }
    const bool of_running = expect.what == Expected::preempt;
    if (found->second->running == of_running || expect.what == Expected::blocker) return;
    c.error("E813",
            of_running ? fmt::format("{} waits, so it cannot be preempted", in_quotes(name.value))
                       : fmt::format("{} runs already", in_quotes(name.value)),
            {expect.span, ""},
            of_running ? "expect it of a workload that runs" : "expect it of a workload that waits",
            {{found->second->name.span, of_running ? "waits" : "runs"}});
  }

  CheckContext& c;
  const TestNode& test;
  std::map<std::string, const WorkNode*> by_name;
  std::map<std::string, Milli> fleet, running;  // by device class
};

}  // namespace

void check_tests(CheckContext& c) {
  std::map<std::string, Span> titles;
  for (const TestNode& test : c.tree.tests) {
    const auto [first, is_first] = titles.emplace(test.title.value, test.head);
    if (!is_first) {
      c.error("E811", fmt::format("there are two tests \"{}\"", test.title.value),
              {test.head, "second time"}, "give one of them another title",
              {{first->second, "first time"}});
    }
    TestCheck(c, test).run();
  }
}

}  // namespace fairlead::policy

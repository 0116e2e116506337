#include "policy/test_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/check.h"
#include "lang/cursor.h"
#include "policy/plan.h"

namespace fairlead::policy {
namespace {

using lang::in_quotes;

constexpr Instant kBegin = instant_of_seconds(1'767'225'600);    // given: any time would do
constexpr Duration kLongAgo = seconds(int64_t{30} * 24 * 3600);  // where the test does not say

constexpr std::string_view kRuleNames[] = {"own", "class", "idle"};

struct Event {
  Duration at;
  Verdict verdict{};
  WorkId work = 0;
};

class Run {
 public:
  Run(const Organisation& org, const TestNode& test)
      : org_(org), test_(test), quota_(org), free_(org.devices.size()) {
    for (DeviceId d = 0; d < free_.size(); ++d) quota_.set_capacity(d, {});
    for (const FleetPartNode& part : test.fleet) {
      const DeviceId d = *org.device(part.each.device.value);
      free_[d] = free_[d] + Milli{part.each.amount.value * part.nodes.value};
      quota_.set_capacity(d, free_[d]);
    }
    for (WorkId id = 0; id < test.work.size(); ++id) enter(test.work[id], id);
  }

  TestResult run() {
    for (const ExpectNode& e : test_.expects) {
      if (e.what != Expected::reshape && e.what != Expected::blocker) continue;
      result_.outcome = TestOutcome::not_run;
      result_.why_not_run = e.what == Expected::reshape
                                ? "this version reshapes nothing"
                                : "blockers are not known to the planner of this version";
      return result_;
    }
    for (const Duration at : times()) look(at);
    for (const ExpectNode& e : test_.expects) judge(e);
    if (!result_.failures.empty()) result_.outcome = TestOutcome::failed;
    return result_;
  }

 private:
  void enter(const WorkNode& node, WorkId id) {
    const TeamId team = *org_.team(node.team.value);
    const DeviceId device = node.device ? *org_.device(node.device->value)
                                        : *org_.device(test_.fleet.front().each.device.value);
    const Instant since = kBegin - (node.since     ? node.since->value
                                    : node.running ? kLongAgo
                                                   : Duration{});
    const Work work{
        .id = id,
        .team = team,
        .klass = node.klass ? *org_.klass(node.klass->value) : *org_.teams[team].default_class,
        .device = device,
        .size = devices(node.nodes * node.each),
        .since = since,
        .time_max = {}};
    if (!node.running) {
      waiting_.push_back(work);
      return;
    }
    hold(work);
    running_.push_back(
        {.work = work,
         .started = since,
         .ends = {},
         .kept_till = node.checkpointed_ago ? kBegin - node.checkpointed_ago->value : Instant{}});
  }
  void hold(const Work& work) {
    quota_.charge(work.team, work.device, work.size);
    free_[work.device] = free_[work.device] - work.size;
  }

  std::set<Duration> times() const {
    std::set<Duration> times{Duration{}};
    if (org_.for_waiting && org_.for_waiting->wait) times.insert(*org_.for_waiting->wait);
    for (const ExpectNode& e : test_.expects)
      if (e.at) times.insert(e.at->value);
    return times;
  }

  void look(Duration at) {
    std::optional<int64_t> left;
    if (org_.for_waiting && org_.for_waiting->most) left = evictions_left(at);
    last_ = plan({.organisation = org_,
                  .quota = quota_,
                  .free = free_,
                  .running = running_,
                  .waiting = waiting_,
                  .usages = {},
                  .now = kBegin + at,
                  .spent = spent_,
                  .evictions_left = left});
    for (const Decision& d : last_) apply(d, at);
  }
  int64_t evictions_left(Duration at) const {
    const Cap& cap = *org_.for_waiting->most;
    return cap.most - std::ranges::count_if(events_, [&](const Event& e) {
             return e.verdict == Verdict::preempt && at.us - e.at.us < cap.per.us;
           });
  }

  void apply(const Decision& d, Duration at) {
    const std::string when = lang::to_literal(at);
    if (d.verdict == Verdict::admit) {
      const auto work = std::ranges::find(waiting_, d.work, &Work::id);
      CHECK(work != waiting_.end());
      hold(*work);
      running_.push_back({.work = *work, .started = kBegin + at, .ends = {}, .kept_till = {}});
      waiting_.erase(work);
      result_.events.push_back(fmt::format("{:>4}  admit    {}", when, name_of(d.work)));
    } else if (d.verdict == Verdict::preempt) {
      const auto victim =
          std::ranges::find(running_, d.work, [](const RunningWork& r) { return r.work.id; });
      CHECK(victim != running_.end());
      const Work work = victim->work;
      quota_.refund(work.team, work.device, work.size);
      free_[work.device] = free_[work.device] + work.size;
      waiting_.push_back(work);
      running_.erase(victim);
      spent_.insert({d.claimant, d.work});
      result_.events.push_back(fmt::format("{:>4}  preempt  {} for {}, rule {}", when,
                                           name_of(d.work), name_of(d.claimant),
                                           kRuleNames[static_cast<size_t>(d.rule)]));
    } else {
      result_.events.push_back(fmt::format("{:>4}  {:<7}  {}: {}{}", when, enum_name(d.verdict),
                                           name_of(d.work), why(d),
                                           d.patience ? "; " + to_text(*d.patience) : ""));
      return;
    }
    events_.push_back({at, d.verdict, d.work});
  }
  const std::string& name_of(WorkId id) const { return test_.work[id].name.value; }
  std::string why(const Decision& d) const {
    const auto work = std::ranges::find(waiting_, d.work, &Work::id);
    const std::string short_by =
        fmt::format("short by {} {}", to_text(d.short_by), org_.devices[work->device].name);
    switch (d.cause) {
      case Cause::team_limit:
        return fmt::format("limit of {}, {}", org_.teams[d.team].path, short_by);
      case Cause::class_limit:
        return fmt::format("limit of its class, {}", short_by);
      case Cause::budget:
        return fmt::format("the budget of {}", org_.teams[d.team].path);
      case Cause::shape:
        return "enough devices, and not together";
      case Cause::reservation:
        return fmt::format("a reservation, {}", short_by);
      default:
        return short_by;
    }
  }

  void judge(const ExpectNode& e) {
    const auto node =
        std::ranges::find(test_.work, e.name.value, [](const WorkNode& w) { return w.name.value; });
    const auto id = static_cast<WorkId>(node - test_.work.begin());
    const bool defers = e.what == Expected::defer;
    const Verdict wanted = e.what == Expected::preempt ? Verdict::preempt : Verdict::admit;
    std::optional<Duration> happened;
    for (const Event& event : events_) {
      const bool counts = !e.at || (defers ? event.at <= e.at->value : event.at == e.at->value);
      if (event.work == id && event.verdict == wanted && counts && !happened) happened = event.at;
    }
    const bool holds = (happened.has_value() != defers) != e.no;
    if (!holds) fail(e, id, wanted);
  }
  void fail(const ExpectNode& e, WorkId id, Verdict wanted) {
    const std::string_view past = wanted == Verdict::preempt ? "preempted" : "admitted";
    const auto first = std::ranges::find_if(
        events_, [&](const Event& v) { return v.work == id && v.verdict == wanted; });
    std::string label = fmt::format("it was not {}", past);
    if (first != events_.end()) {
      label = fmt::format("it was {} at {}", past, lang::to_literal(first->at));
    } else if (wanted == Verdict::admit) {
      const auto last = std::ranges::find(last_, id, &Decision::work);
      if (last != last_.end()) label += fmt::format(": {}", why(*last));
    }
    result_.failures.push_back(
        {.code = "E820",
         .message = fmt::format("test \"{}\" fails: {} is {}{}{}", test_.title.value,
                                in_quotes(e.name.value), e.no ? "" : "not ",
                                e.what == Expected::defer ? "deferred" : past,
                                e.at ? fmt::format(" at {}", lang::to_literal(e.at->value)) : ""),
         .primary = {e.span, std::move(label)},
         .others = {},
         .hint = "change the policy, or what is expected of it"});
  }

  const Organisation& org_;
  const TestNode& test_;
  Quota quota_;
  std::vector<Milli> free_;
  std::vector<RunningWork> running_;
  std::vector<Work> waiting_;
  SpentPairs spent_;
  std::vector<Event> events_;
  std::vector<Decision> last_;
  TestResult result_;
};

}  // namespace

TestResult run_test(const Organisation& organisation, const TestNode& test) {
  return Run(organisation, test).run();
}

}  // namespace fairlead::policy

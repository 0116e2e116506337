#include "explain/cures.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "explain/explain.h"
#include "explain/moves_told.h"

namespace fairlead {
namespace {

using enum BlockerCode;

bool is_of_room(BlockerCode code) {
  return code == CAPACITY || code == FRAGMENTED || code == TOPOLOGY_FRAGMENTED ||
         code == SHAPE_NEVER || code == NODES_DOWN || code == FEATURES_NO_NODE;
}

// Does not keep a job that fits: who is ahead waits for something else, or is not in its way.
bool keeps(const Blocker& b) { return b.code != NOT_YET_EXAMINED && b.code != PRIORITY; }

bool is_same(const Blocker& a, const Blocker& b) {
  return a.code == b.code && a.object == b.object && a.limit_name == b.limit_name;
}

class Changes {
 public:
  explicit Changes(const Job& job) : shape_(shape_of(job)) {
    asked_ = {.nodes = shape_.nodes,
              .per_node = shape_.per_node,
              .devices = shape_.total,
              .time_limit_s = job.request.time_limit_s,
              .switches = job.request.switches};
  }

  std::vector<CureRequest> of(const State& state, const Workload& w, const Blocker& b) {
    switch (b.code) {
      case TEAM_LIMIT:
        at_most(std::min(b.limit, asked_.devices - b.short_by));
        break;
      case CLASS_LIMIT:
        at_most(b.limit);
        break;
      case CAPACITY:
        b.unit == "devices" ? at_most(b.used) : nodes(b.used);
        break;
      case FRAGMENTED:
        anywhere();
        nodes(b.used);
        narrower();
        break;
      case TOPOLOGY_FRAGMENTED:
        for (int32_t more = 1; more <= 3; ++more) switches(asked_.switches + more);
        switches(0);
        break;
      case SHAPE_NEVER:
        nodes(b.limit);
        break;
      case NODES_DOWN:
        nodes(b.wanted - b.short_by);
        break;
      case FEATURES_NO_NODE:
        add(asked_).any_features = true;
        break;
      case RESERVED_AHEAD:
        shorter(state, w);
        break;
      default:
        break;
    }
    if (found_.size() > kCuresTried) found_.resize(kCuresTried);
    return std::exchange(found_, {});
  }

 private:
  CureRequest& add(CureRequest request) {
    found_.push_back(request);
    return found_.back();
  }
  void nodes(int64_t most) {
    if (most <= 0 || most >= asked_.nodes) return;
    CureRequest request = asked_;
    request.nodes = static_cast<int32_t>(most);
    if (asked_.per_node > 0) request.devices = request.nodes * asked_.per_node;
    add(request);
  }
  void at_most(int64_t devices) {
    if (devices <= 0 || devices >= asked_.devices) return;
    if (asked_.per_node == 0) {
      CureRequest& request = add(asked_);
      request.devices = static_cast<int32_t>(devices);
      request.nodes = std::min(request.nodes, request.devices);
      return;
    }
    for (int64_t n = devices / asked_.per_node; n > 0; n /= 2) nodes(n);
    for (int64_t each = std::min<int64_t>(devices, asked_.per_node - 1); each > 0; each /= 2)
      on_one(each);
  }
  void on_one(int64_t devices) {
    CureRequest& request = add(asked_);
    request.nodes = 1;
    request.per_node = request.devices = static_cast<int32_t>(devices);
  }
  void anywhere() {
    if (asked_.per_node == 0) return;
    CureRequest& request = add(asked_);
    request.nodes = 1;
    request.per_node = 0;
  }
  void narrower() {
    for (int32_t each = asked_.per_node / 2; each > 0; each /= 2) {
      CureRequest& request = add(asked_);
      request.per_node = each;
      request.devices = each * request.nodes;
    }
  }
  void switches(int32_t most) { add(asked_).switches = most; }

  // Over by the time at which the devices are promised to somebody else.
  void shorter(const State& state, const Workload& w) {
    const auto device = device_class_of(state, w.job);
    if (!state.allocation || !device) return;
    for (const policy::Decision& d : state.allocation->plan.own) {
      if (d.verdict != policy::Verdict::reserve || !d.at.known()) continue;
      const auto holder = state.workloads.find(workload_of(d.work));
      if (holder == state.workloads.end()) continue;
      if (device_class_of(state, holder->second.job) != device) continue;
      constexpr int64_t kMinute = 60;  // limits are set in minutes
      const int64_t left = whole_seconds(d.at - state.now) / kMinute * kMinute;
      if (left > 0) add(asked_).time_limit_s = left;
    }
  }

  Shape shape_;
  CureRequest asked_;
  std::vector<CureRequest> found_;
};

// Only what is another than before.
std::string text_of(const Job& before, const CureRequest& r) {
  const Job after = with_request(before, r);
  std::string text;
  const auto say = [&](const std::string& what) { text += (text.empty() ? "" : ", ") + what; };
  const Shape was = shape_of(before), is = shape_of(after);
  if (was.nodes != is.nodes || was.per_node != is.per_node || was.total != is.total) {
    const std::string gang = to_text(is);
    say(is.per_node == 0 && was.per_node > 0
            ? fmt::format("{} on any nodes instead of {}", gang, to_text(was))
            : fmt::format("{} instead of {}", gang, to_text(was)));
  }
  if (before.request.time_limit_s != after.request.time_limit_s)
    say("time limit " + to_short_text(seconds(after.request.time_limit_s)));
  if (before.request.switches != after.request.switches)
    say(after.request.switches == 0 ? "under any switches"
                                    : fmt::format("allow {} switches", after.request.switches));
  if (before.request.features != after.request.features) say("without this constraint");
  return text;
}

struct Tried {
  CureEffect effect = CureEffect::none;
  std::string leaves;
};

class Trial {
 public:
  Trial(Explainer& explainer, const Engine& engine, const Workload& workload)
      : explainer_(explainer), engine_(engine), workload_(workload) {}

  // Nothing: the planner has no say in it.
  std::optional<Tried> run(const CureRequest& request, const std::vector<const Blocker*>& cured) {
    Workload changed = workload_;
    changed.job = with_request(workload_.job, request);
    std::vector<std::string> left;
    const auto answer = engine_.ask(changed, /*may_take_back=*/false);
    if (!answer) return std::nullopt;
    for (const Blocker& b : explainer_.blockers_of(changed, &answer->verdict)) {
      for (const Blocker* one : cured)
        if (is_same(b, *one)) return Tried{};
      if (keeps(b)) left.emplace_back(enum_name(b.code));
    }
    if (!left.empty())
      return Tried{CureEffect::removes, fmt::format("leaves {}", fmt::join(left, " "))};
    if (answer->verdict.verdict == policy::Verdict::admit ||
        answer->verdict.verdict == policy::Verdict::reshape)
      return Tried{CureEffect::starts, "starts now"};
    return Tried{CureEffect::removes, "and others are ahead"};
  }

 private:
  Explainer& explainer_;
  const Engine& engine_;
  const Workload& workload_;
};

void tell(Blocker& b, const Job& job, const CureRequest& request, const Tried& tried) {
  b.cure = text_of(job, request) + ": " + tried.leaves;
  b.cure_effect = tried.effect;
  b.cure_request = request;
}

// The best of what is tried: the first that starts, else the first that removes. What its rule says
// stands where there is nothing to try.
void cure(Blocker& b, Trial& trial, const State& state, const Workload& w) {
  Tried best;
  CureRequest request;
  bool is_tried = false;
  for (const CureRequest& candidate : Changes(w.job).of(state, w, b)) {
    std::optional<Tried> tried = trial.run(candidate, {&b});
    is_tried = is_tried || tried.has_value();
    if (!tried || tried->effect <= best.effect) continue;
    best = *std::move(tried);
    request = candidate;
    if (best.effect == CureEffect::starts) break;
  }
  if (best.effect != CureEffect::none) {
    tell(b, w.job, request, best);
  } else if (b.by_policy || is_tried) {
    if (b.code == BUDGET_SPENT)
      b.cure = "wait until it begins anew";
    else if (b.waiting_cures == WaitingCures::never)
      b.cure = b.by_policy ? "a larger limit" : code_text(b.code).cure;
    else if (b.waiting_cures == WaitingCures::yes)
      b.cure = "wait";
    else
      b.cure = code_text(b.code).cure;
  }
}

// What others could do for it, which the planner has tried (core/allocator_moves.cc).
bool cure_by_moves(Blocker& b, const State& state, const Workload& w, const Explanation& x) {
  const Suggestion* made = b.code == FRAGMENTED ? room_for(state, w.id) : nullptr;
  if (made == nullptr) return false;
  std::vector<std::string> left;
  for (const Blocker& other : x.blockers)
    if (&other != &b && keeps(other)) left.emplace_back(enum_name(other.code));
  b.cure_effect = left.empty() ? CureEffect::starts : CureEffect::removes;
  b.cure =
      fmt::format("move {}: {}", to_text(moves_told(state, made->moves)),
                  left.empty() ? "starts now" : fmt::format("leaves {}", fmt::join(left, " ")));
  return true;
}

CureRequest both(const CureRequest& asked, CureRequest a, const CureRequest& b) {
  if (b.devices < a.devices || (b.per_node == 0 && a.per_node > 0 && a.devices == asked.devices)) {
    a.nodes = b.nodes;
    a.per_node = b.per_node;
    a.devices = b.devices;
  }
  if (b.time_limit_s != asked.time_limit_s) a.time_limit_s = b.time_limit_s;
  if (b.switches != asked.switches) a.switches = b.switches;
  a.any_features = a.any_features || b.any_features;
  return a;
}

}  // namespace

Job with_request(Job job, const CureRequest& r) {
  DeviceRequest& devices = job.request.devices;
  job.request.nodes_min = r.nodes;
  job.request.nodes_max = 0;
  devices.per_node = r.per_node;
  devices.per_task = 0;
  devices.total = r.devices;
  job.request.time_limit_s = r.time_limit_s;
  job.request.switches = r.switches;
  if (r.any_features) job.request.features.clear();
  return job;
}

void try_cures(Explainer& explainer, const Engine& engine, const Workload& w, Explanation& x) {
  const State& state = engine.state();
  Trial trial(explainer, engine, w);
  std::vector<const Blocker*> cured;
  std::optional<CureRequest> together;
  const Shape shape = shape_of(w.job);
  const CureRequest asked{.nodes = shape.nodes,
                          .per_node = shape.per_node,
                          .devices = shape.total,
                          .time_limit_s = w.job.request.time_limit_s,
                          .switches = w.job.request.switches};
  for (Blocker& b : x.blockers) {
    if (!b.by_policy && !is_of_room(b.code)) continue;
    if (cure_by_moves(b, state, w, x)) continue;  // no change of its request
    cure(b, trial, state, w);
    if (b.cure_effect == CureEffect::none) continue;
    cured.push_back(&b);
    together = together ? both(asked, *together, b.cure_request) : b.cure_request;
  }
  if (cured.size() < 2) return;
  const std::optional<Tried> tried = trial.run(*together, cured);
  if (tried && tried->effect == CureEffect::starts)
    x.enough = text_of(w.job, *together) + ": " + tried->leaves;
}

}  // namespace fairlead

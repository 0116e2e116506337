#include "core/allocator.h"

#include <algorithm>
#include <ranges>

#include "core/budgets.h"
#include "core/job_forms.h"
#include "core/kept_nodes.h"
#include "core/team_books.h"

namespace fairlead {
namespace {

bool waits_for_room(const Workload& workload) {
  return !workload.ended && !workload.holding && workload.job.state == JobState::pending &&
         competes(workload.job);
}

int32_t tasks_of(const Job& job) {
  if (job.array.id == 0 || job.array.task >= 0) return 1;
  int32_t tasks = std::max(1, job.array.waiting_count);
  if (job.array.running_max > 0) tasks = std::min(tasks, job.array.running_max);
  return std::min(tasks, kTasksMax);
}

// In one of its forms, which a room knows by a number.
policy::Work work_of(const State& state, const Workload& workload, const Job& form,
                     policy::DeviceId device, uint32_t shape) {
  return {.id = work_id(workload.id),
          .team = team_of(state, workload).value_or(policy::kRoot),
          .klass = class_or_last(state, workload),
          .device = device,
          .size = amount_of(form.request.devices.model, shape_of(form).total),
          .since = workload.first_submit,
          .time_max = time_limit(form),
          .shape = shape};
}

// What the plan says of it.
void read_off(const policy::Plan& plan, const SiteRoom::Visit& visit, const policy::Work& work,
              Answer& answer) {
  for (const policy::Refusal& refusal : plan.refusals)
    if (refusal.group == policy::group_of(work)) answer.verdict = refusal.why;
  for (const auto* part : {&plan.own, &plan.acts})
    for (const policy::Decision& d : *part)
      if (d.work == work.id) answer.verdict = d;
  answer.verdict.work = work.id;
  for (const policy::Decision& d : plan.acts)
    if (d.verdict == policy::Verdict::preempt && d.claimant == work.id)
      answer.victims.push_back(workload_of(d.work));
  if (answer.verdict.verdict == policy::Verdict::admit ||
      answer.verdict.verdict == policy::Verdict::reshape)
    answer.nodes = visit.nodes_of(work.id);
}

}  // namespace

void Allocator::forget() {
  const int64_t looks = looks_;
  IndexChecks checks = std::move(checks_);
  *this = {};
  looks_ = looks;
  checks_ = std::move(checks);
}

std::string Allocator::recount(const State& state) const {
  return room_ ? room_->recount(stock_of_ == state.steps ? &state : nullptr) : "";
}

void Allocator::check_index(const State& state) {
  ++checks_.done;
  std::string fault = recount(state);
  if (fault.empty()) return;
  ++checks_.failed;
  checks_.last = std::move(fault);
  is_wrong_ = true;
}

void Allocator::begin(const State& state) {
  forget();
  room_.emplace(state);
  rules_ = state.organisation->rules();
  policy::Class none;
  none.name = "(none)";
  none.rank = std::numeric_limits<int32_t>::min();
  rules_.classes.push_back(none);
  for (const auto& [id, workload] : state.workloads) changed_.push_back(id);
}

// Each of its forms with a shorter limit, too.
void Allocator::accept_shorter(const Job& job, Asked& asked) {
  const policy::Work& work = asked.work;
  std::vector<policy::Form>& others = asked.declared.others;
  others.insert(others.begin(), {.device = work.device,
                                 .size = work.size,
                                 .time_max = work.time_max,
                                 .shape = work.shape,
                                 .length = {}});
  for (policy::Form& form : others) form.time_min = seconds(job.request.time_min_s);
}

std::optional<Allocator::Asked> Allocator::asked_of(const State& state, const Workload& workload) {
  std::optional<Asked> asked;
  for (const Job& form : forms_of(state, workload.job)) {
    const uint32_t shape = room_->number_of(state, form);
    if (shape == 0) continue;
    const policy::Work work = work_of(state, workload, form, room_->device_of(shape), shape);
    if (asked)
      asked->declared.others.push_back(
          {.device = work.device, .size = work.size, .time_max = work.time_max, .shape = shape});
    else
      asked.emplace(Asked{.work = work, .declared = {}});
  }
  if (asked && workload.job.request.time_min_s > 0) accept_shorter(workload.job, *asked);
  if (asked) asked->work.has_forms = !asked->declared.others.empty();
  return asked;
}

void Allocator::take_in(const State& state, WorkloadId id) {
  for (uint64_t task = 0; waiting_.find(work_id(id, task)) != nullptr; ++task)
    waiting_.remove(work_id(id, task));
  forms_.erase(forms_.lower_bound(work_id(id)), forms_.lower_bound(work_id(id + 1)));
  const auto found = state.workloads.find(id);
  if (found == state.workloads.end() || !waits_for_room(found->second)) return;
  if (!state.reservations.empty()) {
    for (const Job& form : forms_of(state, found->second.job))
      if (const Instant changes = kept_from(state, form).changes; changes.known())
        kept_until_.emplace(changes, id);
  }
  auto asked = asked_of(state, found->second);
  if (!asked) return;
  for (int32_t task = 0; task < tasks_of(found->second.job); ++task) {
    asked->work.id = work_id(id, static_cast<uint64_t>(task));
    waiting_.put(asked->work);
    if (!asked->declared.others.empty()) forms_[asked->work.id] = asked->declared;
  }
}

// As runs like it have gone, else its limit; more devices of one class are so much quicker.
void Allocator::predict_length(const RunLengths& lengths, const Workload& workload,
                               const policy::Work& work, policy::Declared& declared) {
  constexpr uint64_t kHalf = uint64_t{1} << 63;
  declared.length =
      RunLengths::draw(lengths.like(workload), work.time_max, {}, kHalf).value_or(work.time_max);
  if (work.time_max.us > 0) declared.length = std::min(declared.length, work.time_max);
  for (policy::Form& form : declared.others) {
    form.length = declared.length;
    if (form.device != work.device) continue;
    form.length.us = static_cast<int64_t>(static_cast<__int128>(declared.length.us) *
                                          work.size.value / form.size.value);
  }
}

// Whose nodes are kept for somebody else, or no longer, is taken in anew.
void Allocator::note_reservations(const State& state) {
  Hasher hasher;
  fold(hasher, state.reservations);
  if (const Digest digest = hasher.digest(); !(digest == reservations_)) {
    reservations_ = digest;
    for (const auto& [id, workload] : state.workloads)
      if (waits_for_room(workload)) changed_.push_back(id);
  }
  while (!kept_until_.empty() && kept_until_.begin()->first <= state.now) {
    changed_.push_back(kept_until_.begin()->second);
    kept_until_.erase(kept_until_.begin());
  }
}

void Allocator::take_stock(const State& state, const RunLengths& lengths) {
  if (!room_ || is_wrong_ || !room_->refresh(state)) begin(state);
  note_reservations(state);
  std::ranges::sort(changed_);
  changed_.erase(std::unique(changed_.begin(), changed_.end()), changed_.end());
  for (const WorkloadId id : changed_) take_in(state, id);
  changed_.clear();
  seen_.emplace(Seen{.quota = quota_of(state),
                     .usages = usages_.until_now(state),
                     .running = running_work(state, lengths),
                     .budgets = budgets_.until_now(state)});
  for (auto& [id, declared] : forms_)
    predict_length(lengths, state.workloads.at(workload_of(id)), *waiting_.find(id), declared);
  stock_of_ = state.steps;
}

policy::World Allocator::world(const State& state, const policy::Waiting& waiting,
                               std::optional<int64_t> evictions_left) const {
  static const policy::SpentPairs kNone;  // nothing of ours is in flight: nothing is carried out
  return {.organisation = rules_,
          .quota = seen_->quota,
          .waiting = waiting,
          .running = seen_->running,
          .usages = seen_->usages,
          .budgets = seen_->budgets,
          .spent = kNone,
          .now = state.now,
          .evictions_left = evictions_left,
          .forms = &forms_,
          .claims = &state.suggested.claims};
}

std::optional<int64_t> Allocator::evictions_most() const {
  if (rules_.for_waiting && rules_.for_waiting->most) return rules_.for_waiting->most->most;
  return std::nullopt;
}

Allocation Allocator::look(const State& state, const RunLengths& lengths) {
  take_stock(state, lengths);
  Allocation allocation;
  {
    SiteRoom::Visit visit(*room_, state);
    allocation.plan = policy::look(world(state, waiting_, evictions_most()), visit);
    for (const policy::Decision& act : allocation.plan.acts)
      allocation.nodes.push_back(visit.nodes_of(act.work));
    allocation.rooms = rooms_by_moves(state, allocation.plan, visit);
  }
  std::erase_if(allocation.rooms, [&](const MadeRoom& made) { return !starts_then(state, made); });
  allocation.shapes = room_->numbers();
  for (const policy::Refusal& refusal : allocation.plan.refusals)
    allocation.refused.emplace(refusal.group, refusal.why);
  if (++looks_ % kRecountEvery == 0) check_index(state);
  allocation.checks = checks_;
  return allocation;
}

std::optional<Answer> Allocator::ask(const State& state, const RunLengths& lengths,
                                     const Workload& workload, bool may_take_back) {
  if (!waits_for_room(workload)) return std::nullopt;
  if (!seen_ || stock_of_ != state.steps) take_stock(state, lengths);
  std::vector<Job> strange;  // forms whose shapes nothing that waits has
  for (const Job& form : forms_of(state, workload.job))
    if (!room_->numbers().contains(shape_of(form))) strange.push_back(form);
  std::optional<Answer> answer;
  if (auto asked = asked_of(state, workload)) {
    std::vector<policy::Work> as_it_is;
    std::vector<policy::Forms::node_type> forms;
    for (uint64_t task = 0; const policy::Work* w = waiting_.find(work_id(workload.id, task));
         ++task)
      as_it_is.push_back(*w);
    for (const policy::Work& w : as_it_is) {
      waiting_.remove(w.id);
      forms.push_back(forms_.extract(w.id));
    }
    waiting_.put(asked->work);
    if (!asked->declared.others.empty()) {
      predict_length(lengths, workload, asked->work, asked->declared);
      forms_[asked->work.id] = std::move(asked->declared);
    }
    answer = ask(state, asked->work, may_take_back);
    waiting_.remove(asked->work.id);
    forms_.erase(asked->work.id);
    for (const policy::Work& w : as_it_is) waiting_.put(w);
    for (policy::Forms::node_type& form : forms) forms_.insert(std::move(form));
  }
  for (const Job& form : std::views::reverse(strange)) room_->forget(form);  // the last first
  return answer;
}

Answer Allocator::ask(const State& state, const policy::Work& work, bool may_take_back) {
  const auto evictions_left = may_take_back ? evictions_most() : std::optional<int64_t>(0);
  Answer answer;
  answer.verdict = {.verdict = policy::Verdict::defer, .work = work.id};
  std::vector<MadeRoom> rooms;
  {
    SiteRoom::Visit visit(*room_, state);
    const policy::Plan plan = policy::look(world(state, waiting_, evictions_left), visit);
    read_off(plan, visit, work, answer);
    if (may_take_back) rooms = rooms_by_moves(state, plan, visit);
  }
  for (const MadeRoom& made : rooms) {
    if (made.claimant != work.id || !starts_then(state, made)) continue;
    answer.nodes = made.nodes;
    answer.moves = moves_of(state, made);
  }
  return answer;
}

std::optional<policy::Decision> verdict_on(const State& state, const Workload& workload) {
  if (!state.allocation || !state.organisation || !waits_for_room(workload)) return std::nullopt;
  const Allocation& last = *state.allocation;
  const auto is_it = [&](const policy::Decision& d) {
    return d.work == work_id(workload.id) && d.verdict != policy::Verdict::preempt;
  };
  for (const auto* part : {&last.plan.acts, &last.plan.own}) {
    const auto found = std::ranges::find_if(*part, is_it);
    if (found != part->end()) return *found;
  }
  for (const Job& form : forms_of(state, workload.job)) {
    const auto number = last.shapes.find(shape_of(form));
    const auto device = device_class_of(state, form);
    if (number == last.shapes.end() || number->second == 0 || !device) continue;
    policy::Work work = work_of(state, workload, form, *device, number->second);
    auto refused = last.refused.find(policy::group_of(work));
    work.has_forms = true;
    if (refused == last.refused.end()) refused = last.refused.find(policy::group_of(work));
    if (refused == last.refused.end()) return std::nullopt;
    policy::Decision decision = refused->second;
    decision.work = work_id(workload.id);
    return decision;
  }
  return std::nullopt;
}

}  // namespace fairlead

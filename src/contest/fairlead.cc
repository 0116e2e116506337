// Our own rule: a look of the planner (policy/plan.h) by the organisation's files, whenever
// something changed that could let anybody start.
//
// The planner's room is the board, so it decides on nodes: gangs whole, reservations where they can
// be, and nobody taken for a claimant who would not fit then. Where many kinds of work wait (kFew),
// it is given all of it every five minutes (kFullEvery), and in between that which fits now and who
// had the reservation: what does not fit could only take the reservation over. It may take back
// once a minute (kTakeBackEvery), as the live program looks in steps, too; and where that was of no
// use, not before five more. How long runs go it learns from those of the same team that ended,
// else from all. Budgets and `reclaim idle` are not followed: a history has no prices, and no
// telemetry.
#include <algorithm>
#include <deque>
#include <unordered_map>

#include "base/check.h"
#include "contest/board_room.h"
#include "contest/rivals.h"
#include "contest/usage_book.h"
#include "policy/lifetimes.h"
#include "policy/plan.h"

namespace fairlead::contest {

using policy::RunningWork;
using policy::Verdict;
using policy::Work;

namespace {

constexpr int64_t kCalendarEvery = 900;  // chosen: windows begin and end at quarters of an hour
constexpr int64_t kTakeBackEvery = 60, kFruitless = 300, kFullEvery = 300;  // chosen: seconds
constexpr size_t kFew = 32;  // chosen: groups that a look costs little for

policy::Milli size_of(const Job& job) { return policy::devices(job.gang.total()); }

class Fairlead : public Rival {
 public:
  explicit Fairlead(const Match& match)
      : org_(match.organisation),
        zones_(match.zones),
        quota_(match.organisation),
        usage_(match.organisation, match.jobs.empty() ? 0 : match.jobs.front().submit),
        has_windows_(
            std::ranges::any_of(org_.teams, [](const auto& t) { return !t.windows.empty(); })),
        lifetimes_(org_.teams.size()),
        waits_of_shape_(match.shapes) {
    const Board board = match.board();
    for (DeviceId d = 0; d < org_.devices.size(); ++d)
      quota_.set_capacity(d, policy::devices(board.capacity(d)));
  }

  void waits(const Arena& arena, JobIndex job) override {
    const Job& j = arena.job(job);
    waiting_.put({.id = job,
                  .team = j.team,
                  .klass = j.klass,
                  .device = j.gang.device,
                  .size = size_of(j),
                  .since = instant_of_seconds(j.submit),
                  .time_max = seconds(j.limit),
                  .shape = j.shape,
                  .has_forms = j.others > 0});
    if (j.others > 0) forms_[job] = declared(arena.match(), j);
    ++waits_of_shape_[j.shape];
    a_job_of_shape_.try_emplace(j.shape, job);
    spent_.clear();
  }

  void left(const Arena& arena, JobIndex job) override {
    const Job& j = arena.job(job);
    const DeviceId device = arena.run(job).form.gang.device;
    quota_.refund(j.team, device, size_of(j));
    usage_.change(j.team, device, -j.gang.total(), arena.now());
    if (!taking_back_) {
      const Duration length = seconds(arena.now() - arena.run(job).start);
      lifetimes_[j.team].learn(length);
      lifetimes_of_all_.learn(length);
    }
    running_.erase(place_of(job));
    spent_.clear();
  }

  void look(Arena& arena) override {
    follow_time(arena);
    const int64_t claim = arena.now() < take_back_at_ ? take_back_at_ : next_claim();
    const bool may_take_back = claim <= arena.now();
    bool again = may_take_back || room_for_any(arena);
    while (again) again = look(arena, may_take_back) && !may_take_back && room_for_any(arena);
    if (claim == kNever)
      take_back_at_ = arena.now() + kTakeBackEvery;  // until then nobody is asked
    wake_at_ = std::max(take_back_at_, may_take_back ? 0 : claim);
    if (has_windows_) wake_at_ = std::min(wake_at_, calendar_ + kCalendarEvery);
  }
  int64_t wake_at() const override { return wake_at_; }

 private:
  std::vector<RunningWork>::iterator place_of(JobIndex job) {
    return std::ranges::lower_bound(running_, policy::WorkId{job}, {},
                                    [](const RunningWork& r) { return r.work.id; });
  }

  void follow_time(const Arena& arena) {
    usage_.settle(arena.now());
    if (!has_windows_ || arena.now() < calendar_ + kCalendarEvery) return;
    calendar_ = arena.now() / kCalendarEvery * kCalendarEvery;
    policy::follow_calendar(org_, zones_, instant_of_seconds(arena.now()), quota_);
  }

  bool room_for_any(const Arena& arena) const {
    return std::ranges::any_of(a_job_of_shape_, [&](const auto& shape) {
      return waits_of_shape_[shape.first] > 0 && arena.fits(shape.second);
    });
  }
  // As far as a form is foretold by how fast it runs: until the time limit.
  static policy::Declared declared(const Match& match, const Job& job) {
    policy::Declared out{.length = seconds(job.limit), .others = {}};
    for (size_t i = 1; i < match.forms_of(job); ++i) {
      const Form form = match.form_of(job, i);
      const Duration length = seconds(form.seconds_for(job.limit));
      out.others.push_back({.device = form.gang.device,
                            .size = policy::devices(form.gang.total()),
                            .time_max = length,
                            .shape = form.shape,
                            .length = length});
    }
    return out;
  }

  // When the first for whom something could be taken back will have waited long enough.
  int64_t next_claim() const {
    const int64_t wait =
        org_.for_waiting && org_.for_waiting->wait ? whole_seconds(*org_.for_waiting->wait) : 0;
    int64_t next = kNever;
    for (const auto& [key, group] : waiting_.groups()) {
      const int64_t from = floor_seconds(group.begin()->since) + wait;
      if (from < next && may_claim(*group.begin())) next = from;
    }
    return next;
  }
  bool may_claim(const Work& work) const {
    if (!org_.classes[work.klass].preempts.empty()) return true;
    return work.team != policy::kRoot &&
           quota_.entitled({work.team, work.device, work.size}, org_.teams[work.team].parent);
  }

  // What fits now, and who had the reservation.
  policy::Waiting what_fits(const Arena& arena) const {
    constexpr int64_t kEqualMost = 16;  // chosen: there is another look where all of them start
    std::vector<bool> fits(waits_of_shape_.size());
    for (const auto& [shape, job] : a_job_of_shape_)
      fits[shape] = waits_of_shape_[shape] > 0 && arena.fits(job);
    policy::Waiting few;
    for (const auto& [key, group] : waiting_.groups()) {
      if (!fits[key.shape]) continue;
      int64_t most = kEqualMost;
      for (auto work = group.begin(); work != group.end() && most > 0; ++work, --most)
        few.put(*work);
    }
    for (const policy::WorkId id : reserved_)
      if (const Work* work = waiting_.find(id)) few.put(*work);
    return few;
  }

  // Returns whether anybody started who was given as one of few.
  bool look(Arena& arena, bool may_take_back) {
    const bool full = may_take_back || waiting_.groups().size() <= kFew || arena.now() >= full_at_;
    const policy::Waiting few = full ? policy::Waiting{} : what_fits(arena);
    if (may_take_back) predict_ends(arena);
    BoardRoom room(arena);
    const policy::Plan plan =
        policy::look({.organisation = org_,
                      .quota = quota_,
                      .waiting = full ? waiting_ : few,
                      .running = running_,
                      .usages = usage_.usages(),
                      .budgets = {},
                      .spent = spent_,
                      .now = instant_of_seconds(arena.now()),
                      .evictions_left = may_take_back ? evictions_left(arena.now()) : 0,
                      .forms = forms_.empty() ? nullptr : &forms_,
                      .claims = &claims_},
                     room);
    policy::SpentPairs spent;
    for (const policy::Decision& d : plan.acts) {
      const auto job = static_cast<JobIndex>(d.work);
      if (d.verdict == Verdict::preempt) {
        spent.insert({d.claimant, d.work});
        evictions_.push_back(arena.now());
        taking_back_ = true;
        arena.take_back(job);
        taking_back_ = false;
      } else {
        CHECK(d.verdict == Verdict::admit || d.verdict == Verdict::reshape);
        start(arena, job, room.taken(job), d.reshape ? d.reshape->form + 1 : 0);
      }
    }
    if (may_take_back) {
      claims_ = policy::claims_of(plan, claims_, instant_of_seconds(arena.now()));
      const bool in_vain = spent.empty() && next_claim() <= arena.now();
      take_back_at_ = arena.now() + (in_vain ? kFruitless : spent.empty() ? 0 : kTakeBackEvery);
      if (evictions_left(arena.now()) == 0 && !evictions_.empty())
        take_back_at_ = evictions_.front() + whole_seconds(org_.for_waiting->most->per);
    }
    spent_.merge(spent);
    if (!full) return !plan.acts.empty();
    full_at_ = arena.now() + kFullEvery;
    reserved_.clear();
    for (const policy::Decision& d : plan.own)
      if (d.verdict == Verdict::reserve) reserved_.push_back(d.work);
    return false;
  }

  void start(Arena& arena, JobIndex job, const Places& places, size_t form) {
    const Job& j = arena.job(job);
    Work work = *waiting_.find(job);
    waiting_.remove(job);
    if (form > 0) work = policy::in_form(work, forms_.at(job).others[form - 1]);
    forms_.erase(job);
    --waits_of_shape_[j.shape];
    arena.start_on(job, places, form);
    quota_.charge(j.team, work.device, work.size);
    usage_.change(j.team, work.device, j.gang.total(), arena.now());
    int64_t& lost_before = lost_before_[job];  // of all takings but the last
    const int64_t again = (arena.fate(job).lost - lost_before) / j.gang.total();  // seconds
    lost_before = arena.fate(job).lost;
    running_.insert(place_of(job), {.work = work,
                                    .started = instant_of_seconds(arena.now()),
                                    .ends = instant_of_seconds(arena.run(job).due),
                                    .kept_till = {},
                                    .spared_till = instant_of_seconds(arena.now() + again)});
  }

  // As runs of its team have gone, else as all have.
  void predict_ends(const Arena& arena) {
    const Instant now = instant_of_seconds(arena.now());
    for (RunningWork& r : running_) {
      const uint32_t part = policy::part_of(r.work.id);
      auto length = lifetimes_[r.work.team].length_beyond(now - r.started, part);
      if (!length) length = lifetimes_of_all_.length_beyond(now - r.started, part);
      r.ends_likely = length ? std::max(r.started + *length, now) : Instant{};
    }
  }

  std::optional<int64_t> evictions_left(int64_t now) {
    if (!org_.for_waiting || !org_.for_waiting->most) return std::nullopt;
    const policy::Cap& cap = *org_.for_waiting->most;
    while (!evictions_.empty() && evictions_.front() + whole_seconds(cap.per) <= now)
      evictions_.pop_front();
    return cap.most - std::ssize(evictions_);
  }

  const policy::Organisation& org_;
  const policy::Zones& zones_;
  policy::Quota quota_;
  UsageBook usage_;
  const bool has_windows_;
  std::vector<policy::Lifetimes> lifetimes_;  // by team
  policy::Lifetimes lifetimes_of_all_;
  bool taking_back_ = false;
  policy::Waiting waiting_;
  std::vector<int64_t> waits_of_shape_;
  std::map<uint32_t, JobIndex> a_job_of_shape_;
  std::vector<RunningWork> running_;  // by id
  policy::SpentPairs spent_;
  policy::Claims claims_;
  policy::Forms forms_;  // of what waits
  std::unordered_map<JobIndex, int64_t> lost_before_;
  std::vector<policy::WorkId> reserved_;  // at the last full look
  int64_t full_at_ = 0;
  std::deque<int64_t> evictions_;  // when
  int64_t take_back_at_ = 0, wake_at_ = kNever, calendar_ = 0;
};

}  // namespace

std::unique_ptr<Rival> make_fairlead(const Match& match) {
  return std::make_unique<Fairlead>(match);
}

}  // namespace fairlead::contest

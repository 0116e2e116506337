// fifo and easy: one line for each device class, in order of submission.
#include "contest/hold.h"
#include "contest/line.h"
#include "contest/rivals.h"

namespace fairlead::contest {
namespace {

class Fifo : public Rival {
 public:
  explicit Fifo(const Match& match) : lines_(match.organisation.devices.size()) {}
  void waits(const Arena& arena, JobIndex job) override {
    lines_[arena.job(job).gang.device].add(arena, job);
  }
  void look(Arena& arena) override {
    for (Line& line : lines_)
      line.pass([&](JobIndex job) { return arena.start(job) ? Next::taken : Next::stop; });
  }

 private:
  std::vector<Line> lines_;  // by device
};

// Chosen: as many as Slurm tests by default (bf_max_job_test), so that a pass stays bounded.
constexpr int kTestsMost = 500;

class Easy : public Rival {
 public:
  explicit Easy(const Match& match) : lines_(match.organisation.devices.size()) {}
  void waits(const Arena& arena, JobIndex job) override {
    lines_[arena.job(job).gang.device].add(arena, job);
  }
  void look(Arena& arena) override {
    for (Line& line : lines_) look(arena, line);
  }

 private:
  static void look(Arena& arena, Line& line) {
    std::optional<JobIndex> first;  // that does not fit
    std::optional<Hold> hold;       // for it; made once somebody asks
    int tests = 0;
    line.pass([&](JobIndex job) {
      const Job& j = arena.job(job);
      if (!first) {
        if (arena.start(job)) return Next::taken;
        first = job;
        const bool over = j.others == 0 && arena.board().free(j.gang.device) == 0;
        return over ? Next::stop : Next::skip_shape;
      }
      if (!arena.fits(job)) return Next::skip_shape;
      if (++tests > kTestsMost) return Next::stop;
      if (!hold) hold.emplace(earliest(arena, *first));
      return backfill(arena, job, *hold) ? Next::taken : Next::go_on;
    });
  }

  // Where it would start first.
  static Hold earliest(const Arena& arena, JobIndex job) {
    const Job& j = arena.job(job);
    Hold best(arena, j.gang);
    for (size_t i = 1; i < arena.match().forms_of(j); ++i) {
      Hold other(arena, arena.match().form_of(j, i).gang);
      if (other.at() < best.at()) best = std::move(other);
    }
    return best;
  }

  static bool backfill(Arena& arena, JobIndex job, Hold& hold) {
    const Job& j = arena.job(job);
    for (size_t i = 0; i < arena.match().forms_of(j); ++i) {
      const Form form = arena.match().form_of(j, i);
      const int64_t due = arena.now() + form.seconds_for(j.limit);
      const auto places = hold.places_for(arena.board(), form.gang, due);
      if (!places) continue;
      arena.start_on(job, *places, i);
      hold.started(arena.board(), form.gang, *places, due);
      return true;
    }
    return false;
  }

  std::vector<Line> lines_;  // by device
};

}  // namespace

std::unique_ptr<Rival> make_fifo(const Match& match) { return std::make_unique<Fifo>(match); }
std::unique_ptr<Rival> make_easy(const Match& match) { return std::make_unique<Easy>(match); }

}  // namespace fairlead::contest

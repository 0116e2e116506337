// One match under one rule, in virtual time.
//
// The arena owns what is so: which job waits, which runs where, until when. A rule is asked
// whenever something changed (a submission, an end) or it wanted to be woken, and starts jobs or
// takes them back. A gang starts whole, on nodes that have room for it, or not at all. What is
// taken back waits again with its age, and has to run in full again; what a rule stops (the
// protocols of papers do) goes on where it was.
//
// Where the match is played in rounds, a rule looks at the next multiple of the round instead.
//
// At one second ends come first, then submissions, then the rule. Same match and same rule give the
// same outcome, byte for byte: there is no chance and no floating point in here.
//
// Cost: O(log running) an event, and what the rule costs.
#pragma once

#include <functional>
#include <memory>
#include <queue>
#include <set>

#include "base/digest.h"
#include "contest/match.h"

namespace fairlead::contest {

constexpr int64_t kNever = INT64_MAX;

struct Run {
  Places places;
  Form form;
  int64_t start = 0;
  int64_t due = 0;  // start and limit: when a rule expects its end
};

// What became of a job.
struct Fate {
  int64_t start = 0, end = 0;  // of its last run; 0: did not begin, did not end
  int64_t lost = 0;            // device-seconds of runs that were taken back
  int64_t done = 0;  // of runs that were stopped: seconds of work, as in the job's own form
  int64_t speed_ppm = 1'000'000;  // of the form in which it ran last
  int32_t evictions = 0;          // with loss
  int32_t stops = 0;              // without
  int32_t epoch() const { return evictions + stops; }
};

// How the fleet was used, while work arrived: from the first submission to the last.
struct Use {
  int64_t from = 0, until = 0;
  int64_t capacity = 0, held = 0;                // device-seconds
  int64_t free_while_waiting = 0, stranded = 0;  // of a device class that work waits for
  std::optional<int64_t> share_error_ppm;        // mean over samples; nothing: not known
};

struct Outcome {
  std::vector<Fate> fates;  // by JobIndex
  Use use;
  bool placed = true;  // else nothing is known of nodes, and so of stranded devices
  uint64_t looks = 0;
};
Digest digest_of(const Outcome& outcome);

class Arena;

// A rule that decides which waiting job starts now and which running job is taken back.
class Rival {
 public:
  virtual ~Rival() = default;
  virtual void waits(const Arena& arena, JobIndex job) = 0;  // submitted, or taken back
  virtual void left(const Arena&, JobIndex) {}               // ended, or taken back
  virtual void look(Arena& arena) = 0;
  virtual int64_t wake_at() const { return kNever; }  // wants to look then, even if nothing changes
  virtual bool always_looks() const { return false; }  // also while nothing waits
};

class Arena {
 public:
  explicit Arena(const Match& match);
  // `progress` is told how many jobs have ended, now and then; false stops the match there.
  Outcome play(Rival& rival, const std::function<bool(size_t)>& progress = {});

  // --- what a rule sees
  const Match& match() const { return match_; }
  const Job& job(JobIndex index) const { return match_.jobs[index]; }
  const Board& board() const { return board_; }
  int64_t now() const { return now_; }
  bool runs(JobIndex index) const { return running_[index] != nullptr; }
  const Run& run(JobIndex index) const { return *running_[index]; }
  // What runs on a device class, by when it is due.
  const std::set<std::pair<int64_t, JobIndex>>& due(DeviceId device) const { return due_[device]; }
  size_t waiting() const { return waiting_; }
  // Whether there is room for it in one of its forms.
  bool fits(JobIndex index) const;
  const Fate& fate(JobIndex index) const { return outcome_.fates[index]; }

  // --- and does
  // In the first of its forms that fits, where that fits best; false: none fits.
  bool start(JobIndex index);
  void start_on(JobIndex index, Places places, size_t form = 0);  // Requires: there is room.
  void take_back(JobIndex index);  // Requires: it runs. What it did is lost.
  // Requires: it runs. What it did is kept, less so many seconds.
  void stop(JobIndex index, int64_t less = 0);

 private:
  struct End {
    int64_t at = 0;
    JobIndex job = 0;
    int32_t epoch = 0;  // of the run that it is the end of
    friend auto operator<=>(const End&, const End&) = default;
  };
  int64_t look_at(int64_t at) const;
  void advance(int64_t to);
  void measure(int64_t span);
  void sample();
  void enter(JobIndex index);
  void leave(JobIndex index);
  void count_waiting(const Job& job, int64_t by);

  const Match& match_;
  Board board_;
  Rival* rival_ = nullptr;
  int64_t now_ = 0;
  std::vector<std::unique_ptr<Run>> running_;  // by JobIndex
  std::vector<std::set<std::pair<int64_t, JobIndex>>> due_;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  Outcome outcome_;
  size_t waiting_ = 0, ended_ = 0;
  std::vector<std::vector<int64_t>> waiting_parts_;      // by device and size of the least part
  std::vector<int64_t> held_by_team_, waiting_by_team_;  // by team, then by device
  int64_t sample_every_ = 0, next_sample_ = 0, samples_ = 0, share_error_sum_ = 0;
};

}  // namespace fairlead::contest

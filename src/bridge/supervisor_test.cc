// SPDX-License-Identifier: GPL-2.0-or-later
#include "bridge/supervisor.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <thread>

#include "adapters/slurm/stream.h"
#include "codec/event_json.h"

namespace fairlead::slurm {
namespace {

std::string line(const What& what) { return to_json(Event{.at = {1}, .what = what}) + "\n"; }
std::string good_poll() {
  return line(PollBegan{.full = true}) + line(Job{.id = 7}) + line(PollEnded{});
}

struct Relayed {
  int exit_code = 0;
  std::vector<Event> events;
  std::string first_line, last_detail;
};

// Supervises `child` once and reads back what came out.
Relayed run_once(std::function<int(int)> child) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  Relayed run;
  run.exit_code =
      supervise({.out = ends[1], .once = true, .stall_max = {200'000}, .child = std::move(child)});
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<size_t>(n));
  close(ends[0]);
  for (size_t from = 0, end; (end = text.find('\n', from)) != std::string::npos; from = end + 1) {
    const std::string one = text.substr(from, end - from);
    if (from == 0)
      run.first_line = one;
    else if (const auto event = read_event(one))
      run.events.push_back(*event);
  }
  if (!run.events.empty()) run.last_detail = std::get<PollEnded>(run.events.back().what).detail;
  return run;
}

TEST(Supervisor, PassesAWholePollOn) {
  const Relayed run = run_once([](int out) {
    write_all(out, event_header() + "\n#jobs\n" + good_poll() + "#\n");
    return kExitGood;
  });
  EXPECT_EQ(run.exit_code, kExitGood);
  EXPECT_EQ(run.first_line, event_header());
  ASSERT_EQ(run.events.size(), 3U);
  EXPECT_EQ(std::get<Job>(run.events[1].what).id, 7U);
}

TEST(Supervisor, AChildThatHangsIsReplacedAndNothingOfItsPollIsTold) {
  const Relayed run = run_once([](int out) {
    write_all(out,
              event_header() + "\n#jobs\n" + line(PollBegan{.full = true}) + line(Job{.id = 7}));
    for (;;) pause();
    return kExitGood;
  });
  EXPECT_EQ(run.exit_code, kExitUnreachable);
  ASSERT_EQ(run.events.size(), 2U);
  EXPECT_TRUE(run.last_detail.starts_with("slurmctld does not answer about jobs"))
      << run.last_detail;
}

TEST(Supervisor, AChildThatEndsSaysWhy) {
  const Relayed run = run_once([](int) {
    std::fprintf(stderr, "error: first\nfatal: Unable to process configuration file\n");
    return 1;
  });
  EXPECT_EQ(run.exit_code, kExitUnreachable);
  ASSERT_EQ(run.events.size(), 2U);
  EXPECT_TRUE(
      run.last_detail.starts_with("libslurm gave up: fatal: Unable to process configuration file"))
      << run.last_detail;
}

TEST(Supervisor, AFailedPollOfTheChildIsPassedOn) {
  const Relayed run = run_once([](int out) {
    write_all(out, line(PollBegan{}) + line(PollEnded{.ok = false, .detail = "munge"}));
    return kExitUnreachable;
  });
  EXPECT_EQ(run.exit_code, kExitUnreachable);
  EXPECT_EQ(run.last_detail, "munge");
}

TEST(Supervisor, AJobNamedLikeAPollsEndEndsNone) {
  const Relayed run = run_once([](int out) {
    write_all(out, line(PollBegan{.full = true}) + line(Job{.id = 7, .name = "\"poll_ended\":"}) +
                       line(PollEnded{}));
    return kExitGood;
  });
  EXPECT_EQ(run.events.size(), 3U);
}

// The child rests longer than a stall may last: that is no stall.
TEST(Supervisor, AChildMayRest) {
  const Relayed run = run_once([](int out) {
    write_all(out, "#jobs\n" + line(PollBegan{}) + line(PollEnded{.detail = "first"}) + "#\n");
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
    write_all(out, "#jobs\n" + line(PollBegan{}) + line(PollEnded{.detail = "second"}) + "#\n");
    return kExitGood;
  });
  EXPECT_EQ(run.last_detail, "second");
}

TEST(Supervisor, EndsQuietlyWhenNobodyReads) {
  end_quietly_on_signals();  // as main does: a closed pipe is no signal
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  EXPECT_EQ(supervise({.out = ends[1],
                       .child =
                           [](int) {
                             for (;;) pause();
                             return 0;
                           }}),
            kExitGood);
  close(ends[1]);
}

}  // namespace
}  // namespace fairlead::slurm

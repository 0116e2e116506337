// The process is killed at each write point of its store, some hundred times; what was acknowledged
// is there again, the state is that of a run that nobody killed, and the books end equal.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "base/check.h"
#include "codec/event_json.h"
#include "io/testing.h"
#include "runtime/site.h"
#include "runtime/store_journal.h"

namespace fairlead {
namespace {

constexpr int kPolls = 40;
constexpr int64_t kKills = 300;
constexpr int64_t kStart = 7200 - 300;  // an hour is closed on the way

Job job(uint32_t id, JobState state, int64_t start, int64_t end) {
  Job j{.id = id, .label = std::to_string(id), .user = "ana", .account = "ads", .qos = "normal"};
  j.state = state;
  j.submit = instant_of_seconds(kStart);
  j.start = instant_of_seconds(start);
  if (end != 0) j.end = instant_of_seconds(end);
  j.request = {.devices = {.model = "h100", .per_node = 4, .total = 4}, .nodes_min = 1};
  if (end == 0) j.held = {{.node = "n1", .devices = {0, 1, 2, 3}, .device_count = 4}};
  return j;
}

// Poll `i`: the fleet at first, then jobs that follow one another on four devices (every fifth is
// preempted), and a look at them.
std::vector<std::vector<Event>> polls_at(int i) {
  const int64_t now = kStart + 30 * i;
  const auto id = static_cast<uint32_t>(i);
  const auto event = [&](What what) {
    return Event{.at = instant_of_seconds(now), .what = std::move(what)};
  };
  std::vector<Event> scheduler = {event(PollBegan{})};
  if (i == 0) {
    scheduler.push_back(
        event(Node{.name = "n1", .state = NodeState::idle, .devices = {{"h100", 8}}}));
  } else {
    const JobState ended = i % 5 == 0 ? JobState::preempted : JobState::completed;
    if (i > 1) scheduler.push_back(event(job(id - 1, ended, now - 40, now - 10)));
    scheduler.push_back(event(job(id, JobState::running, now - 10, 0)));
  }
  scheduler.push_back(event(PollEnded{}));
  Samples samples;
  for (int32_t device = 0; device < 4; ++device) {
    samples.samples.push_back({.node = "n1",
                               .index = device,
                               .at = instant_of_seconds(now - 1),
                               .utilisation_ppm = i % 3 == 0 ? 0 : 900'000,
                               .memory_used_mib = 60'000});
  }
  return {scheduler,
          {event(PollBegan{.source = Source::telemetry}), event(std::move(samples)),
           event(PollEnded{.source = Source::telemetry})}};
}

std::vector<std::vector<Event>> all_polls() {
  std::vector<std::vector<Event>> all;
  for (int i = 0; i < kPolls; ++i) {
    for (std::vector<Event>& poll : polls_at(i)) all.push_back(std::move(poll));
  }
  return all;
}

SiteOptions options() { return {.name = "alpha", .snapshot_every_bytes = 4000}; }

// Takes in polls from `from` on, and writes the number of each that was taken in to `acknowledge`.
void take_polls(Site& site, size_t from, int acknowledge) {
  const auto polls = all_polls();
  for (size_t i = from; i < polls.size(); ++i) {
    site.take_poll(polls[i]);
    CHECK(site.journal_problem().empty());
    if (acknowledge >= 0) CHECK(::write(acknowledge, &i, sizeof i) == sizeof i);
    site.upkeep();
  }
}

[[noreturn]] void run_until_killed(const std::string& path, int64_t at, int acknowledge) {
  ::setenv("FAIRLEAD_KILL_AT", std::to_string(at).c_str(), 1);
  const auto journal = StoreJournal::open(path);
  const auto site = Site::open(options(), **journal);
  take_polls(**site, 0, acknowledge);
  // Once all polls are taken in, snapshots are written until the point is met.
  while (true) CHECK((*site)->snapshot().has_value());
}

// The digest after each poll of a run that nobody killed.
std::vector<Digest> digests_of_a_whole_run() {
  NoJournal journal;
  const auto site = Site::open(options(), journal).value();
  std::vector<Digest> digests = {site->engine().digest()};
  for (auto& poll : all_polls()) {
    site->take_poll(poll);
    digests.push_back(site->engine().digest());
  }
  return digests;
}

TEST(Kill, NothingAcknowledgedIsLostAndNothingIsBookedTwice) {
  // A process that is killed loses nothing that it gave the system: a disk in memory proves as
  // much.
  if (::access("/dev/shm", W_OK) == 0) ::setenv("TMPDIR", "/dev/shm", 0);
  const auto want = digests_of_a_whole_run();
  for (int64_t at = 1; at <= kKills; ++at) {
    SCOPED_TRACE("FAIRLEAD_KILL_AT=" + std::to_string(at));
    const io::TemporaryFolder folder;
    const std::string path = folder / "fairlead.db";
    int acknowledged[2];
    ASSERT_EQ(::pipe2(acknowledged, O_CLOEXEC), 0);
    const pid_t pid = ::fork();
    if (pid == 0) run_until_killed(path, at, acknowledged[1]);
    ::close(acknowledged[1]);
    size_t taken = 0, i = 0;
    while (::read(acknowledged[0], &i, sizeof i) == sizeof i) taken = i + 1;
    ::close(acknowledged[0]);
    int status = 0;
    ::waitpid(pid, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;

    const auto journal = StoreJournal::open(path);
    ASSERT_TRUE(journal) << to_text(journal.error());
    const auto site = Site::open(options(), **journal);
    ASSERT_TRUE(site) << to_text(site.error());
    // 1. It is a whole number of polls: those that were acknowledged, and perhaps the next.
    const Digest found = (*site)->engine().digest();
    const bool next = taken + 1 < want.size() && found == want[taken + 1];
    ASSERT_TRUE(found == want[taken] || next) << taken << " polls were acknowledged";
    // 2. Going on, the books end as if nobody had killed anything.
    take_polls(**site, next ? taken + 1 : taken, -1);
    ASSERT_EQ((*site)->engine().digest(), want.back());
    ASSERT_EQ((*site)->engine().recount(), "");
  }
}

}  // namespace
}  // namespace fairlead

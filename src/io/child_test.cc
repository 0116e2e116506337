#include "io/child.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "io/testing.h"

namespace fairlead::io {
namespace {

// True once the process has been taken away; one that a killed parent left behind may stay a
// zombie.
bool is_gone(const std::string& pid) {
  std::ifstream file("/proc/" + pid + "/stat");
  std::string text;
  return !std::getline(file, text) || text.contains(") Z");
}

struct Outcome {
  std::vector<std::string> lines;
  std::optional<ChildExit> exit;
};

Outcome run_shell(const std::string& script, size_t line_max = 1 << 20) {
  asio::io_context io;
  Outcome outcome;
  ChildOptions options{.argv = {"sh", "-c", script},
                       .env = {"FAIRLEAD_TEST=from us"},
                       .line_max = line_max,
                       .errors_max = 2};
  options.on_line = [&](std::string_view line) { outcome.lines.emplace_back(line.substr(0, 40)); };
  options.on_exit = [&](const ChildExit& exit) { outcome.exit = exit; };
  const auto child = Child::start(io, std::move(options));
  EXPECT_TRUE(child);
  run_until(io, [&] { return outcome.exit.has_value(); });
  return outcome;
}

struct ChildRow {
  std::string_view name, script;
  std::vector<std::string> lines;
  std::string_view want;  // of the exit's text
  size_t line_max = 1 << 20;
};

const ChildRow kChildRows[] = {
    {.name = "lines come one by one",
     .script = "echo a; echo; printf 'b\\r\\n'",
     .lines = {"a", "", "b\r"},
     .want = "ended with code 0"},
    {.name = "our variables are there",
     .script = "echo $FAIRLEAD_TEST",
     .lines = {"from us"},
     .want = "ended with code 0"},
    {.name = "half a line is no line",
     .script = "echo a; printf half",
     .lines = {"a"},
     .want = "ended with code 0, in the middle of a line"},
    {.name = "its last words are kept",
     .script = "for i in 1 2 3 4; do echo e$i >&2; done; exit 7",
     .lines = {},
     .want = "ended with code 7: e4"},
    {.name = "a signal is named",
     .script = "kill -KILL $$",
     .lines = {},
     .want = "was ended by signal 9 (Killed)"},
    {.name = "a line may be long",
     .script = "head -c 500000 /dev/zero | tr '\\0' x; echo; echo b",
     .lines = {std::string(40, 'x'), "b"},
     .want = "ended with code 0"},
    {.name = "but not too long",
     .script = "echo a; head -c 500000 /dev/zero | tr '\\0' x; echo",
     .lines = {"a"},
     .want = "was ended by signal 9 (Killed), since it wrote a line of more than 1000 bytes",
     .line_max = 1000},
    {.name = "what it leaves behind does not hold us",
     .script = "echo a; sleep 1000 & exit 0",
     .lines = {"a"},
     .want = "ended with code 0"},
    {.name = "standard input is empty",
     .script = "cat; echo end",
     .lines = {"end"},
     .want = "ended with code 0"},
};

TEST(Child, SpeaksInLinesAndEnds) {
  for (const ChildRow& row : kChildRows) {
    SCOPED_TRACE(row.name);
    const Outcome outcome = run_shell(std::string(row.script), row.line_max);
    ASSERT_TRUE(outcome.exit);
    EXPECT_EQ(outcome.lines, row.lines);
    EXPECT_EQ(outcome.exit->to_text(), row.want);
    EXPECT_LE(outcome.exit->errors.size(), 2u);
  }
}

TEST(Child, ThatDoesNotExistIsRefused) {
  asio::io_context io;
  const auto child = Child::start(io, {.argv = {"/no/such/program"}});
  ASSERT_FALSE(child);
  EXPECT_EQ(child.error().code, "child-start");
  EXPECT_TRUE(child.error().message.contains("No such file"));
}

TEST(Child, AndItsGroupGoWithTheObject) {
  asio::io_context io;
  std::string grandchild;
  {
    ChildOptions options{.argv = {"sh", "-c", "sleep 1000 & echo $!; wait"}};
    options.on_line = [&](std::string_view line) { grandchild = line; };
    auto child = Child::start(io, std::move(options));
    ASSERT_TRUE(child);
    run_until(io, [&] { return !grandchild.empty(); });
    ASSERT_EQ(::kill(std::stoi(grandchild), 0), 0);
  }
  run_until(io, [&] { return is_gone(grandchild); });
}

TEST(Child, EndsWhenAsked) {
  asio::io_context io;
  std::optional<ChildExit> exit;
  bool ready = false;
  ChildOptions options{.argv = {"sh", "-c", "trap 'exit 5' TERM; echo ready; sleep 1000 & wait"}};
  options.on_line = [&](std::string_view) { ready = true; };
  options.on_exit = [&](const ChildExit& e) { exit = e; };
  auto child = Child::start(io, std::move(options));
  ASSERT_TRUE(child);
  run_until(io, [&] { return ready; });
  child->ask_to_end();
  run_until(io, [&] { return exit.has_value(); });
  EXPECT_EQ(exit->code, 5);
}

TEST(Child, DiesWithTheProcessThatStartedIt) {
  int pids[2];
  ASSERT_EQ(::pipe(pids), 0);
  const pid_t parent = ::fork();
  if (parent == 0) {
    asio::io_context io;
    const auto child = Child::start(io, {.argv = {"sleep", "1000"}});
    const pid_t pid = child ? child->pid() : 0;
    [[maybe_unused]] const ssize_t told = ::write(pids[1], &pid, sizeof pid);
    ::kill(::getpid(), SIGKILL);
  }
  pid_t orphan = 0;
  ASSERT_EQ(::read(pids[0], &orphan, sizeof orphan), static_cast<ssize_t>(sizeof orphan));
  ASSERT_GT(orphan, 0);
  ::waitpid(parent, nullptr, 0);
  asio::io_context io;
  run_until(io, [&] { return is_gone(std::to_string(orphan)); });
  ::close(pids[0]);
  ::close(pids[1]);
}

TEST(RunProgram, ReturnsTheOutputOrTheCause) {
  asio::io_context io;
  EXPECT_EQ(run(io, run_program({.argv = {"printf", "a\\nb"}})).value(), "a\nb");
  const auto failed =
      run(io, run_program({.argv = {"sh", "-c", "echo no such partition >&2; exit 1"}}));
  EXPECT_EQ(failed.error().code, "child-failed");
  EXPECT_EQ(failed.error().message, "'sh' ended with code 1: no such partition");
  const auto slow = run(io, run_program({.argv = {"sleep", "1000"}, .limit = milliseconds(20)}));
  EXPECT_EQ(slow.error().code, "child-timeout");
  const auto much = run(io, run_program({.argv = {"yes"}, .output_max = 10'000}));
  EXPECT_EQ(much.error().code, "child-failed");
}

}  // namespace
}  // namespace fairlead::io

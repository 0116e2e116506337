// fairlead replay: a site's past as input.
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <chrono>
#include <filesystem>

#include "apps/arguments.h"
#include "apps/commands.h"
#include "apps/contest_run.h"
#include "apps/report_output.h"
#include "io/file.h"
#include "sim/history.h"
#include "sim/replay.h"
#include "views/ledger_view.h"

namespace fairlead {
namespace {

struct ReplayArguments {
  std::vector<std::string> files;
  std::string by, utc_offset, name = "history";
  bool verify = false;
  ContestArguments contest;
};

constexpr size_t kFileMax = size_t{4} << 30;

// Unpacks gzip; other bytes pass.
Result<std::string> unpacked(const std::string& file, std::string bytes) {
  if (bytes.size() < 2 || bytes[0] != '\x1f' || bytes[1] != '\x8b') return bytes;
  z_stream z{};
  if (inflateInit2(&z, 15 + 32) != Z_OK)
    return fail("history-broken", file + " cannot be unpacked");
  std::string out;
  std::string block(1 << 20, '\0');
  z.next_in = reinterpret_cast<Bytef*>(bytes.data());
  z.avail_in = static_cast<uInt>(bytes.size());
  int result = Z_OK;
  while (result == Z_OK && out.size() < kFileMax) {
    z.next_out = reinterpret_cast<Bytef*>(block.data());
    z.avail_out = static_cast<uInt>(block.size());
    result = inflate(&z, Z_NO_FLUSH);
    out.append(block, 0, block.size() - z.avail_out);
    if (result == Z_STREAM_END && z.avail_in > 0) result = inflateReset(&z);
  }
  inflateEnd(&z);
  if (result != Z_STREAM_END)
    return fail("history-broken", fmt::format("{} is cut or broken (gzip)", file),
                "make the dump again");
  return out;
}

Result<HistoryInput> read_input(const std::string& file) {
  std::string bytes;
  if (file == "-") {
    std::string block(1 << 16, '\0');
    for (ssize_t n = 0; (n = ::read(STDIN_FILENO, block.data(), block.size())) > 0;)
      bytes.append(block, 0, static_cast<size_t>(n));
  } else {
    auto read = io::read_file(file, kFileMax);
    if (!read) return std::unexpected(read.error());
    bytes = std::move(*read);
  }
  auto text = unpacked(file, std::move(bytes));
  if (!text) return std::unexpected(text.error());
  return HistoryInput{.source = file, .text = std::move(*text)};
}

// On a terminal one line that is drawn anew; else nothing until the end.
class Progress {
 public:
  bool show(const ReplayProgress& p) {
    if (!terminal_) return true;
    const double passed =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count();
    const double share = p.workloads_total == 0 ? 1
                                                : static_cast<double>(p.workloads_done) /
                                                      static_cast<double>(p.workloads_total);
    fmt::print(
        stderr, "\rreplay {:3.0f} %  {} of {} workloads  {:.0f} events/s  {} left   ", 100 * share,
        with_thousands(p.workloads_done), with_thousands(p.workloads_total),
        static_cast<double>(p.events) / std::max(passed, 0.001),
        share > 0 ? to_short_text(seconds(static_cast<int64_t>(passed / share - passed))) : "?");
    return true;
  }
  void done() const {
    if (terminal_) fmt::print(stderr, "\r{:90}\r", "");
  }

 private:
  const bool terminal_ = ::isatty(STDERR_FILENO) != 0;
  const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
};

void add_notes(Report& report, const HistoryNotes& notes) {
  std::vector<std::string> lines = {
      fmt::format("{}: {}, {}, {}", notes.format, plural(notes.rows, "row"),
                  plural(notes.workloads, "workload"), plural(notes.runs, "run"))};
  lines.insert(lines.end(), notes.remarks.begin(), notes.remarks.end());
  for (const SkippedRows& s : notes.skipped) {
    lines.push_back(fmt::format("{} left out: {} (first at {}:{})", plural(s.count, "row"),
                                s.reason, s.source, s.line));
  }
  report.notes.insert(report.notes.begin(), lines.begin(), lines.end());
  if (notes.format.starts_with("sacct")) report.scheduler = "slurm";
}

// The files and how they are read, for the line that repeats a contest.
std::string again(const ReplayArguments& a) {
  std::string out = "fairlead replay";
  for (const std::string& file : a.files) out += " " + shell_word(file);
  if (!a.utc_offset.empty()) out += " --utc-offset " + shell_word(a.utc_offset);
  return out;
}

int run_replay(Program& p, const ReplayArguments& a) {
  HistoryOptions options;
  if (!a.utc_offset.empty()) {
    const bool west = a.utc_offset[0] == '-';
    const auto offset = parse_duration(
        std::string_view(a.utc_offset).substr(west || a.utc_offset[0] == '+' ? 1 : 0));
    if (!offset || whole_seconds(*offset) > 14 * 3600)
      return complain_usage(fmt::format("'{}' is no offset", a.utc_offset),
                            "--utc-offset 2h or -5h30m: from -14h to 14h");
    options.utc_offset = west ? Duration{-offset->us} : *offset;
  }
  std::vector<HistoryInput> inputs;
  for (const std::string& file : a.files) {
    auto input = read_input(file);
    if (!input) return complain(input.error());
    inputs.push_back(std::move(*input));
  }
  const auto history = read_history(std::move(inputs), options);
  if (!history) return complain(history.error());
  if (a.contest.wanted()) {
    if (a.verify || !a.by.empty())
      return complain_usage("--by and --verify are of the report, not of rules side by side",
                            "leave them out, or leave out --org and --against");
    ContestArguments contest = a.contest;
    contest.again = again(a);
    contest.history = a.name == "history" ? a.files.front() : a.name;
    return run_contest(p, contest, *history);
  }
  Progress progress;
  const ReplayResult result =
      replay(*history, {.site = a.name, .rules = {}, .progress = [&](const ReplayProgress& at) {
                          return progress.show(at);
                        }});
  progress.done();
  if (a.verify) {
    const LedgerCheck check = check_ledger(result.engine);
    if (!check.adds_up)
      return complain({.code = "ledger", .message = check.problem, .place = {}, .hint = {}}),
             kExitFound;
  }
  Report report = report_of(result.engine.state(), {});
  add_notes(report, history->notes());
  if (const int64_t left_out = history->notes().skipped_rows(); left_out > 0) {
    fmt::print(stderr, "fairlead: left out: {} of {}; the report's notes say why\n",
               with_thousands(left_out), plural(history->notes().rows, "row"));
  }
  return print_report(std::move(report), a.by, p.output);
}

}  // namespace

void add_replay_command(Program& p) {
  auto a = std::make_shared<ReplayArguments>();
  CLI::App* c = p.app.add_subcommand(
      "replay",
      "a site's past: a sacct dump, SWF, a public trace, a CSV or our journal, as the same report; "
      "or under other rules, side by side");
  c->footer(fmt::format(
      "examples:\n  {} > dump.psv && fairlead replay dump.psv\n  fairlead replay dump.psv --org "
      "/etc/fairlead/org --fleet \"32 x 8 H100\" --against native,easy,slurm-multifactor -o html "
      "> rules.html",
      kSacctCommand));
  c->add_option("history", a->files,
                "files, plain or gzip; several are parts of one; - is standard input")
      ->required();
  c->add_option("--by", a->by, "team, class, user, partition or model")
      ->check(one_of({"team", "class", "user", "partition", "model"}));
  c->add_option("--utc-offset", a->utc_offset,
                "of the site's clock, for dumps without a zone (2h, -5h)");
  c->add_option("--name", a->name, "how to call the site");
  c->add_flag("--verify", a->verify, "recount the ledger at the end");
  add_contest_options(*c, a->contest);
  add_output_options(*c, p, true);
  c->callback([&p, a] { p.run = [&p, a] { return run_replay(p, *a); }; });
}

}  // namespace fairlead

#include "sim/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>

#include "ledger/ledger.h"
#include "sim/history_read.h"

namespace fairlead {

void HistoryBuilder::remark(std::string sentence) {
  std::vector<std::string>& remarks = notes().remarks;
  const auto at = static_cast<size_t>(std::ranges::find(remarks, sentence) - remarks.begin());
  if (at == remarks.size()) {
    remarks.push_back(std::move(sentence));
    remarked.emplace_back();
  }
  if (input != nullptr && (remarked[at].empty() || remarked[at].back() != input))
    remarked[at].push_back(input);
}

void HistoryBuilder::count_remarks() {
  for (size_t i = 0; i < remarked.size(); ++i) {
    if (remarked[i].size() > 1)
      notes().remarks[i] += fmt::format(" ({} files)", remarked[i].size());
  }
}

void HistoryBuilder::skip(std::string_view reason, std::string_view row) {
  ++notes().rows;
  for (SkippedRows& known : notes().skipped) {
    if (known.reason != reason) continue;
    ++known.count;
    return;
  }
  std::string excerpt(row.substr(0, 120));
  for (char& c : excerpt) {
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) c = '?';
  }
  notes().skipped.push_back(
      {std::string(reason), 1, input == nullptr ? "" : input->source, line, std::move(excerpt)});
}

void HistoryBuilder::keep(HistoryRun run) {
  ++notes().rows;
  table().runs().push_back(run);
}

size_t History::memory_bytes() const {
  size_t sum = table_.memory_bytes() + order_.capacity() * sizeof(uint32_t) +
               aggregate_.capacity() * sizeof(AggregateRow);
  for (const HistoryInput& input : journal_) sum += input.text.capacity();
  return sum;
}

namespace {

auto same_job(const HistoryRun& r) {
  return std::tuple(r.cluster, r.id, r.task, r.het_offset, r.waiting_count);
}

// Runs of one job stand together afterwards, in time order; the dump's order breaks ties.
void sort_runs(std::vector<HistoryRun>& runs) {
  const auto before = [](const HistoryRun& a, const HistoryRun& b) {
    const auto key = [](const HistoryRun& r) {
      return std::tuple(r.cluster, r.id, r.task, r.het_offset, r.waiting_count, r.submit, r.start,
                        r.end);
    };
    return key(a) < key(b);
  };
  if (std::ranges::is_sorted(runs, before)) return;
  std::vector<uint32_t> index(runs.size());
  std::iota(index.begin(), index.end(), 0U);
  std::ranges::sort(index, [&](uint32_t a, uint32_t b) {
    if (before(runs[a], runs[b])) return true;
    return !before(runs[b], runs[a]) && a < b;
  });
  std::vector<HistoryRun> sorted;
  sorted.reserve(runs.size());
  for (const uint32_t i : index) sorted.push_back(runs[i]);
  runs = std::move(sorted);
}

// Two statements of one run: dumps of neighbouring months both hold it. The later one knows more.
bool is_restated(const HistoryRun& a, const HistoryRun& b) {
  if (a.submit != b.submit || a.how == RunEnd::resized) return false;
  return a.start == b.start || (a.open && a.start == 0);
}

bool knows_more(const HistoryRun& a, const HistoryRun& b) {
  return std::tuple(!a.open, a.start, a.end) > std::tuple(!b.open, b.start, b.end);
}

bool may_requeue(const HistoryRun& r) {
  return r.how == RunEnd::requeued || r.state == JobState::preempted ||
         r.state == JobState::node_fail || r.state == JobState::boot_fail;
}

class Finisher {
 public:
  explicit Finisher(HistoryBuilder& builder) : b_(builder), runs_(builder.table().runs()) {}

  void finish() {
    sort_runs(runs_);
    drop_restated();
    join_runs();
    note_extent();
    end_runaways();
  }

 private:
  void drop_restated() {
    size_t kept = 0;
    for (size_t i = 0; i < runs_.size(); ++i) {
      if (kept > 0 && same_job(runs_[kept - 1]) == same_job(runs_[i]) &&
          is_restated(runs_[kept - 1], runs_[i])) {
        if (knows_more(runs_[i], runs_[kept - 1])) runs_[kept - 1] = runs_[i];
        ++restated_;
        continue;
      }
      if (kept != i) runs_[kept] = runs_[i];
      ++kept;
    }
    runs_.resize(kept);
    if (restated_ > 0)
      b_.remark(
          fmt::format("{} rows state a run that another row states too: counted once", restated_));
  }

  void join_runs() {
    for (size_t i = 0; i + 1 < runs_.size(); ++i) {
      HistoryRun& a = runs_[i];
      HistoryRun& b = runs_[i + 1];
      if (same_job(a) != same_job(b)) continue;
      const bool same_owner = a.user == b.user;
      if (a.how == RunEnd::resized && same_owner)
        continue_resized(a, b);
      else if (may_requeue(a) && same_owner)
        continue_requeued(a, b);
      else if (a.open)
        end_superseded(a, b);
    }
    for (HistoryRun& run : runs_) {
      if (!run.continues) run.how = RunEnd::final;
    }
    if (superseded_ > 0) {
      b_.remark(
          fmt::format("{} jobs have no end and their id was given to another job later (a "
                      "controller lost them): "
                      "they count as vanished then",
                      superseded_));
    }
  }

  static void continue_resized(HistoryRun& a, HistoryRun& b) {
    a.continues = true;
    b.submit = a.submit;
    b.eligible = a.eligible;
    b.start = a.start;
    b.restarts = a.restarts;
    if (b.end != 0) b.end = std::max(b.end, a.end);
  }

  static void continue_requeued(HistoryRun& a, HistoryRun& b) {
    a.continues = true;
    a.how = RunEnd::requeued;
    b.restarts = a.restarts + 1;
    b.submit = std::max(b.submit, a.end);
    if (b.start != 0) b.start = std::max(b.start, b.submit);
    if (b.end != 0) b.end = std::max({b.end, b.submit, b.start});
  }

  void end_superseded(HistoryRun& a, const HistoryRun& b) {
    a.open = false;
    a.state = JobState::vanished;
    a.end = std::max({b.submit, a.submit, a.start});
    ++superseded_;
  }

  void note_extent() {
    for (const HistoryRun& run : runs_) {
      from_ = from_ == 0 ? run.submit : std::min(from_, run.submit);
      until_ = std::max({until_, run.submit, run.start, run.end});
    }
  }

  // A run that is stated to go on past its limit was lost by the scheduler long ago.
  void end_runaways() {
    constexpr int64_t kOverLimitMax = 2 * 86400;  // chosen: above what sites set as OverTimeLimit
    int64_t ended = 0;
    for (HistoryRun& run : runs_) {
      if (!run.open || run.start == 0 || run.time_limit_s <= 0) continue;
      if (run.start + run.time_limit_s + kOverLimitMax >= until_) continue;
      run.open = false;
      run.state = JobState::vanished;
      run.end = run.start + run.time_limit_s;
      ++ended;
    }
    if (ended > 0) {
      b_.remark(
          fmt::format("{} runs have no end and are days past their time limit (`sacctmgr show "
                      "runaway` lists them): "
                      "they count as vanished at the limit",
                      ended));
    }
  }

 public:
  int64_t from() const { return from_; }
  int64_t until() const { return until_; }

 private:
  HistoryBuilder& b_;
  std::vector<HistoryRun>& runs_;
  int64_t restated_ = 0, superseded_ = 0;
  int64_t from_ = 0, until_ = 0;
};

// The first run of each workload, by the instant of its submission.
std::vector<uint32_t> order_of(const std::vector<HistoryRun>& runs) {
  std::vector<uint32_t> order;
  for (size_t i = 0; i < runs.size(); ++i) {
    if (i == 0 || !runs[i - 1].continues) order.push_back(static_cast<uint32_t>(i));
  }
  std::ranges::sort(order, [&](uint32_t a, uint32_t b) {
    return std::tie(runs[a].submit, a) < std::tie(runs[b].submit, b);
  });
  return order;
}

void note_workloads(HistoryNotes& notes, const RunTable& table,
                    const std::vector<uint32_t>& order) {
  notes.runs = static_cast<int64_t>(table.runs().size());
  notes.workloads = static_cast<int64_t>(order.size());
  for (size_t i = 0; i < table.runs().size(); ++i) {
    const HistoryRun& run = table.runs()[i];
    if (run.continues) continue;
    if (run.open) ++notes.still_open;
    if (run.devices_asked == 0 && run.devices_held == 0) ++notes.without_devices;
  }
}

void note_gaps(HistoryBuilder& b) {
  const HistoryNotes& notes = b.notes();
  if (!notes.has_starts)
    b.remark(
        "the trace has no start times: waits are not known, each job starts when it is submitted");
  if (!notes.has_fleet)
    b.remark("the fleet is not known: there is no free, stranded or down, only what was held");
  if (!notes.has_telemetry)
    b.remark("no telemetry: what was held is not measurable as useful or idle");
  constexpr int64_t kLedgerDays = kLedgerHoursMax / 24;
  if (const int64_t days = whole_seconds(notes.until - notes.from) / 86400; days > kLedgerDays) {
    b.remark(
        fmt::format("the history covers {} days; the ledger keeps the last {}", days, kLedgerDays));
  }
}

constexpr size_t kHeadMax = 256 << 10;  // a format is known by its beginning

Diagnostic unknown_format(const HistoryInput& input) {
  std::string_view text = std::string_view(input.text).substr(0, kHeadMax);
  const std::string_view line = without_blanks(take_line(text));
  std::string names;
  for (const HistoryFormat& format : history_formats())
    names += fmt::format("{}{}", names.empty() ? "" : ", ", format.name);
  const bool columns = line.starts_with("JobID") && line.find('|') == line.npos;
  return {.code = "history-unknown-format",
          .message = columns ? "a table of sacct for people, whose columns are cut off"
                             : fmt::format("'{}' is no beginning of a history that is known ({})",
                                           line.substr(0, 60), names),
          .place = {.source = input.source, .line = 1, .column = 1},
          .hint = fmt::format("dump with: {}", kSacctCommand)};
}

Result<void> read_inputs(HistoryBuilder& b, std::vector<HistoryInput>& inputs) {
  for (HistoryInput& input : inputs) {
    if (without_blanks(std::string_view(input.text).substr(0, 4096)).empty()) {
      return fail("history-empty", "the history is empty",
                  fmt::format("dump with: {}", kSacctCommand),
                  {.source = input.source, .line = 1, .column = 1});
    }
    const auto formats = history_formats();
    const std::string_view head = std::string_view(input.text).substr(0, kHeadMax);
    const auto format =
        std::ranges::find_if(formats, [&](const HistoryFormat& f) { return f.matches(head); });
    if (format == formats.end()) return std::unexpected(unknown_format(input));
    const std::string_view name = format->name;
    const bool parts =
        name.starts_with("openb") && b.notes().format.starts_with("openb");  // pods and nodes
    if (!b.notes().format.empty() && b.notes().format != name && !parts) {
      return fail("history-mixed",
                  fmt::format("this is {}, the input before it is {}", name, b.notes().format),
                  "replay them one at a time", {.source = input.source, .line = 1, .column = 1});
    }
    b.notes().format = name;
    b.input = &input;
    b.line = 0;
    if (const auto ok = format->read(b, input); !ok) return ok;
    b.input = nullptr;
    input.text = {};  // the journal's reader has taken it already
    input.text.shrink_to_fit();
  }
  return {};
}

}  // namespace

Result<History> read_history(std::vector<HistoryInput> inputs, const HistoryOptions& options) {
  if (inputs.empty()) return fail("history-empty", "no history is given");
  HistoryBuilder b(options);
  if (const auto ok = read_inputs(b, inputs); !ok) return std::unexpected(ok.error());
  History& h = b.history;
  HistoryNotes& notes = h.notes_;
  Finisher finisher(b);
  finisher.finish();
  if (finisher.until() != 0) {
    notes.from = instant_of_seconds(finisher.from());
    notes.until = instant_of_seconds(finisher.until());
  }
  if (!h.aggregate_.empty()) {
    notes.from = instant_of_seconds(h.aggregate_.front().second);
    notes.until = instant_of_seconds(h.aggregate_.back().second);
  }
  if (notes.format.starts_with("openb") && !h.fleet_.empty()) place_pods(b);
  h.order_ = order_of(h.table_.runs());
  note_workloads(notes, h.table_, h.order_);
  if (h.order_.empty() && h.aggregate_.empty() && h.journal_.empty()) {
    const std::string why =
        notes.skipped.empty()
            ? "it has no rows"
            : fmt::format("{} rows are left out, first line {}: {}", notes.skipped_rows(),
                          notes.skipped[0].line, notes.skipped[0].reason);
    return fail("history-nothing-readable",
                fmt::format("nothing of the {} history can be read: {}", notes.format, why),
                notes.skipped.empty() ? fmt::format("dump with: {}", kSacctCommand)
                                      : fmt::format("the row is: {}", notes.skipped[0].excerpt),
                {.source = inputs[0].source,
                 .line = notes.skipped.empty() ? 1 : static_cast<int>(notes.skipped[0].line)});
  }
  h.fleet_.insert(h.fleet_.end(), options.fleet.begin(), options.fleet.end());
  notes.has_fleet = notes.has_fleet || !h.fleet_.empty();
  if (h.journal_.empty()) note_gaps(b);
  b.count_remarks();
  return std::move(b.history);
}

}  // namespace fairlead

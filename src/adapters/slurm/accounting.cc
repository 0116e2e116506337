#include "adapters/slurm/accounting.h"

#include <algorithm>
#include <limits>

#include "adapters/slurm/job_facts.h"
#include "adapters/slurm/words.h"
#include "io/child.h"

namespace fairlead::slurm {
namespace {

enum Field : uint8_t {
  kId,
  kLabel,
  kUser,
  kAccount,
  kQos,
  kPartition,
  kState,
  kSubmit,
  kEligible,
  kStart,
  kEnd,
  kLimit,
  kNodeCount,
  kAsked,
  kGiven,
  kExit,
  kNodes,
  kFieldCount
};
constexpr const char* kFields =
    "JobIDRaw,JobID,User,Account,QOS,Partition,State,Submit,Eligible,Start,End,TimelimitRaw,NNodes,"
    "ReqTRES,AllocTRES,ExitCode,NodeList";

// Every state in which a run is over; without them sacct adds all that waits and runs. A resized
// job's rows are left out: the run goes on.
constexpr const char* kOver = "CD,CA,F,TO,NF,PR,BF,DL,OOM,RQ";

int32_t small(int64_t n) {
  return static_cast<int32_t>(std::clamp<int64_t>(n, 0, std::numeric_limits<int32_t>::max()));
}

// Seconds since 1970, as SLURM_TIME_FORMAT=%s prints them; zero for a word such as "Unknown".
Instant time_of(std::string_view text) {
  const auto second = parse_whole(text);
  return second && *second > 0 && *second < 4'102'444'800 ? instant_of_seconds(*second) : Instant{};
}

// "CANCELLED by 1001", "REQUEUED": whether it is the word of a run that is over.
bool read_state(std::string_view text, Job& job) {
  JobWords words;
  add_state_word(words, text.substr(0, text.find(' ')));
  job.requeued = words.requeued;
  job.state = words.requeued ? JobState::pending : words.base;
  return job.requeued || has_ended(job.state);
}

void read_devices(std::string_view asked, std::string_view given, Job& job) {
  const Amounts amounts = parse_tres(given.empty() ? asked : given);
  DeviceRequest& devices = job.request.devices;
  size_t models = 0;
  for (const auto& [name, count] : amounts) {
    if (name == "gres/gpu") devices.total = small(count);
    if (name == "cpu") job.request.cpus = small(count);
    if (!name.starts_with("gres/gpu:")) continue;
    devices.model = ++models == 1 ? name.substr(9) : std::string();
  }
  if (job.request.nodes_min == 1) devices.per_node = devices.total;
}

// "4240_7" and "77+1" say what they are part of.
void read_label(std::string_view label, Job& job) {
  job.label = label;
  const size_t mark = label.find_first_of("_+");
  if (mark == std::string_view::npos) return;
  const auto whole = parse_whole(label.substr(0, mark));
  const auto part = parse_whole(label.substr(mark + 1));
  if (!whole || !std::in_range<uint32_t>(*whole)) return;
  if (label[mark] == '+') {
    job.het_id = static_cast<uint32_t>(*whole);
    job.het_offset = part ? small(*part) : 0;
  } else {
    job.array.id = static_cast<uint32_t>(*whole);
    job.array.task = part.value_or(-1);
  }
}

int32_t exit_code(std::string_view text) {
  const size_t colon = text.find(':');
  const auto signal = colon == std::string_view::npos ? std::optional<int64_t>(0)
                                                      : parse_whole(text.substr(colon + 1));
  return exit_code_of(small(parse_whole(text.substr(0, colon)).value_or(0)),
                      small(signal.value_or(0)));
}

bool read_run(std::string_view line, Job& job) {
  const auto fields = split(line, '|');
  if (fields.size() != kFieldCount) return false;
  const auto id = parse_whole(fields[kId]);
  if (!id || *id <= 0 || !std::in_range<uint32_t>(*id) || !read_state(fields[kState], job))
    return false;
  job.id = static_cast<uint32_t>(*id);
  read_label(fields[kLabel], job);
  job.user = fields[kUser];
  job.account = fields[kAccount];
  job.qos = fields[kQos];
  job.partition = fields[kPartition];
  job.submit = time_of(fields[kSubmit]);
  job.eligible = time_of(fields[kEligible]);
  job.start = time_of(fields[kStart]);
  job.end = time_of(fields[kEnd]);
  if (!job.end.known() || !job.submit.known() || job.end < job.start) return false;
  if (!fields[kNodes].starts_with("None")) job.nodes = fields[kNodes];
  if (job.nodes.empty()) job.start = {};  // sacct states one for a job that never ran
  const auto minutes = parse_whole(fields[kLimit]);
  job.request.time_limit_s =
      minutes && *minutes >= 0 && *minutes < 1'000'000'000 ? *minutes * 60 : -1;
  job.request.nodes_min = std::max(1, small(parse_whole(fields[kNodeCount]).value_or(1)));
  read_devices(fields[kAsked], fields[kGiven], job);
  job.exit_code = exit_code(fields[kExit]);
  return true;
}

}  // namespace

void AccountingWindow::looked(Instant at, bool ok) {
  if (!ok) {
    well_since_ = {};
    return;
  }
  if (!well_since_.known()) well_since_ = at;
  if (at - well_since_ > kAccountingOverlap) from_ = std::max(from_, at - kAccountingOverlap);
}

std::vector<std::string> accounting_words(Instant from) {
  std::string since = to_rfc3339(instant_of_seconds(floor_seconds(from)));  // in UTC, ends in Z
  since = since.substr(0, 19);
  return {"-a", "-X", "-D", "-n", "-P", "-S", since, "-E", "now", "-s", kOver, "-o", kFields};
}

std::vector<std::string> accounting_environment(const std::string& conf) {
  std::vector<std::string> environment = {"TZ=UTC0", "LC_ALL=C", "SLURM_TIME_FORMAT=%s",
                                          "SLURM_BITSTR_LEN=0"};
  if (!conf.empty()) environment.push_back("SLURM_CONF=" + conf);
  return environment;
}

AccountedRuns parse_accounting(std::string_view text) {
  AccountedRuns out;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) continue;
    AccountedRun run;
    if (read_run(line, run.job))
      out.runs.push_back(std::move(run));
    else
      ++out.unreadable;
  }
  std::ranges::sort(out.runs, {}, [](const AccountedRun& run) {
    return std::pair(run.job.start.known() ? run.job.start : run.job.end, run.job.id);
  });
  return out;
}

AccountingSource::AccountingSource(AccountingOptions options, std::function<Instant()> now)
    : options_(std::move(options)), now_(std::move(now)), window_(options_.from) {}

io::asio::awaitable<std::vector<Event>> AccountingSource::look(
    std::function<bool(const Job&)> knows) {
  std::vector<std::string> argv = accounting_words(window_.from());
  argv.insert(argv.begin(), options_.program);
  const Instant asked = now_();
  const auto text = co_await io::run_program({.argv = std::move(argv),
                                              .env = accounting_environment(options_.conf),
                                              .limit = io::milliseconds(options_.limit.us / 1000)});
  none_ = !text && text.error().message.find("accounting storage is disabled") != std::string::npos;
  std::vector<Event> poll;
  if (none_) co_return poll;
  window_.looked(asked, text.has_value());
  const Instant at = now_();
  poll.push_back({.at = at, .what = PollBegan{.source = Source::accounting}});
  PollEnded ended{.source = Source::accounting, .ok = text.has_value()};
  if (text) {
    AccountedRuns told = parse_accounting(*text);
    ended.unreadable = told.unreadable;
    for (AccountedRun& run : told.runs) {
      if (!knows(run.job)) poll.push_back({.at = at, .what = std::move(run)});
    }
  } else {
    ended.detail = text.error().message + "; check that slurmdbd runs (`sacctmgr ping`)";
  }
  poll.push_back({.at = at, .what = std::move(ended)});
  co_return poll;
}

}  // namespace fairlead::slurm

#include "sim/synthetic.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <queue>
#include <utility>
#include <vector>

#include "base/rng.h"

namespace fairlead {
namespace {

struct Drawn {
  int64_t length_s = 0;
  int64_t devices = 0, nodes = 1;
};

Drawn draw_job(Rng& rng, const SyntheticSite& site) {
  Drawn job;
  // Length: log-uniform from half a minute to four days, seven of ten below an hour.
  const int64_t decade = rng.chance(700'000) ? 30 : 3600;
  const int64_t octaves = static_cast<int64_t>(rng.below(decade == 30 ? 7 : 6));
  job.length_s = rng.between(decade << octaves, decade << (octaves + 1));
  if (rng.chance(site.cpu_only_ppm)) return job;
  constexpr std::array<int64_t, 16> kSizes = {1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 4, 8, 8, 8, 16, 64};
  job.devices = std::min(kSizes[rng.below(kSizes.size())], site.devices);
  job.nodes = (job.devices + 7) / 8;
  return job;
}

void put_time(std::string& out, int64_t second) {
  const Civil c = seconds_to_civil(second);
  char text[20] = "0000-00-00T00:00:00";
  const auto put = [&](int at, int digits, int value) {
    for (int i = digits - 1; i >= 0; --i, value /= 10)
      text[at + i] = static_cast<char>('0' + value % 10);
  };
  put(0, 4, c.year);
  put(5, 2, c.month);
  put(8, 2, c.day);
  put(11, 2, c.hour);
  put(14, 2, c.minute);
  put(17, 2, c.second);
  out.append(text, 19);
}

struct Row {
  int64_t id, user, team, submit, start, end;
  const char* state;
  Drawn job;
  int64_t node;
};

void put_row(std::string& out, const Row& row) {
  constexpr std::array<const char*, 3> kQos = {"normal", "high", "low"};
  fmt::format_to(std::back_inserter(out), "{}|u{:03}|team{:02}|{}|gpu|{}|", row.id, row.user,
                 row.team, kQos[static_cast<size_t>(row.id % 3)], row.state);
  put_time(out, row.submit);
  out += '|';
  put_time(out, row.submit);
  out += '|';
  put_time(out, row.start);
  out += '|';
  put_time(out, row.end);
  const int64_t cpus = std::max<int64_t>(8, row.job.devices * 8);
  std::string tres = fmt::format("billing={0},cpu={0},", cpus);
  if (row.job.devices > 0) tres += fmt::format("gres/gpu:h100={0},gres/gpu={0},", row.job.devices);
  tres += fmt::format("mem={}G,node={}", cpus * 8, row.job.nodes);
  fmt::format_to(std::back_inserter(out), "|4-00:00:00|{}|{}|{}|", row.job.nodes, tres, tres);
  if (row.job.nodes == 1)
    fmt::format_to(std::back_inserter(out), "n{:04}\n", row.node);
  else
    fmt::format_to(std::back_inserter(out), "n[{:04}-{:04}]\n", row.node,
                   row.node + row.job.nodes - 1);
}

// First come, first served: a job starts when enough devices have come back.
class Queue {
 public:
  explicit Queue(int64_t devices) : free_(devices) {}
  int64_t start(int64_t at, const Drawn& job) {
    at = std::max(at, last_);
    release(at);
    while (free_ < job.devices) {
      at = std::max(at, ends_.top().first);
      release(at);
    }
    free_ -= job.devices;
    last_ = job.devices > 0 ? at : last_;
    return at;
  }
  void end(int64_t at, const Drawn& job) { ends_.emplace(at, job.devices); }

 private:
  void release(int64_t at) {
    while (!ends_.empty() && ends_.top().first <= at) {
      free_ += ends_.top().second;
      ends_.pop();
    }
  }
  int64_t free_, last_ = 0;
  std::priority_queue<std::pair<int64_t, int64_t>, std::vector<std::pair<int64_t, int64_t>>,
                      std::greater<>>
      ends_;
};

}  // namespace

std::string synthetic_sacct(const SyntheticSite& site) {
  Rng rng(site.seed);
  Queue queue(site.devices);
  std::string out =
      "JobID|User|Account|QOS|Partition|State|Submit|Eligible|Start|End|Timelimit|NNodes|ReqTRES|"
      "AllocTRES|NodeList\n";
  out.reserve(static_cast<size_t>(site.jobs) * 320);
  constexpr std::array<const char*, 8> kEnds = {"COMPLETED",         "COMPLETED", "COMPLETED",
                                                "COMPLETED",         "COMPLETED", "FAILED",
                                                "CANCELLED by 1001", "TIMEOUT"};
  const int64_t begin = floor_seconds(site.from);
  for (int64_t i = 0; i < site.jobs; ++i) {
    Row row{.id = i + 1,
            .user = rng.between(0, site.users - 1),
            .team = 0,
            .submit = begin + site.span_s * i / site.jobs + rng.between(0, 59),
            .start = 0,
            .end = 0,
            .state = kEnds[rng.below(kEnds.size())],
            .job = draw_job(rng, site),
            .node = rng.between(0, 599)};
    row.team = row.user % site.teams;
    const bool requeued = rng.chance(site.requeued_ppm);
    row.start = queue.start(row.submit, row.job);
    row.end = row.start + row.job.length_s;
    if (requeued) {
      const char* last = std::exchange(row.state, rng.chance(500'000) ? "REQUEUED" : "NODE_FAIL");
      put_row(out, row);
      row.state = last;
      row.submit = row.end;
      row.start = row.submit + rng.between(120, 600);
      row.end = row.start + row.job.length_s;
    }
    queue.end(row.end, row.job);
    put_row(out, row);
  }
  return out;
}

}  // namespace fairlead

#include "api/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/allocator.h"
#include "core/belonging.h"

namespace fairlead {
namespace {

std::string escaped(std::string_view value) {
  std::string out;
  for (const char c : value) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out;
}

// {site="alpha",team="research"}
std::string labels(std::initializer_list<std::pair<const char*, std::string_view>> pairs) {
  std::string out = "{";
  for (const auto& [name, value] : pairs) {
    if (out.size() > 1) out += ',';
    out += fmt::format("{}=\"{}\"", name, escaped(value));
  }
  return out + "}";
}

void head(std::string& out, const char* name, const char* type, const char* help) {
  out += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}

struct HeldKey {
  NameId model, team, klass;
  Column column;
  auto operator<=>(const HeldKey&) const = default;
};

std::map<HeldKey, int64_t> seconds_by_key(const State& s) {
  std::map<HeldKey, int64_t> sums;
  s.ledger.for_each(0, floor_seconds(s.now), [&](const Account& a, int64_t, int64_t ms) {
    sums[{a.model, a.team, a.klass, a.column}] += ms;
  });
  return sums;
}

std::map<HeldKey, int64_t> devices_by_key(const State& s) {
  std::map<HeldKey, int64_t> counts;
  const LedgerData& books = s.ledger.data();
  for (size_t i = 0; i < books.accounts.size(); ++i) {
    const Account& a = books.accounts[i];
    counts[{a.model, a.team, a.klass, a.column}] += books.running[i].amount;
  }
  return counts;
}

constexpr std::array<double, 10> kWaitBounds = {1,    10,    60,    300,   900,
                                                3600, 14400, 43200, 86400, 604800};

void write_waits(std::string& out, const State& s) {
  std::map<std::pair<NameId, NameId>, std::vector<double>> waits;
  const auto add = [&](NameId team, NameId klass, Instant submit, Instant start) {
    if (start.known())
      waits[{team, klass}].push_back(static_cast<double>((start - submit).us) / 1e6);
  };
  for (const PastWorkload& p : s.past) add(p.team, p.klass, p.submit, p.first_start);
  for (const auto& [id, w] : s.workloads) {
    add(w.team, w.klass, w.first_submit, w.first_start);
  }
  for (const auto& [who, list] : waits) {
    const auto series = [&](const char* suffix, const std::string& le) {
      return fmt::format("fairlead_queue_wait_seconds{}{{site=\"{}\",team=\"{}\",class=\"{}\"{}}}",
                         suffix, escaped(s.site), escaped(s.names.name(who.first)),
                         escaped(s.names.name(who.second)), le.empty() ? "" : ",le=\"" + le + "\"");
    };
    double sum = 0;
    for (const double w : list) sum += w;
    for (const double bound : kWaitBounds) {
      out += fmt::format("{} {}\n", series("_bucket", fmt::format("{}", bound)),
                         std::ranges::count_if(list, [&](double w) { return w <= bound; }));
    }
    out += fmt::format("{} {}\n{} {}\n{} {}\n", series("_bucket", "+Inf"), list.size(),
                       series("_sum", ""), sum, series("_count", ""), list.size());
  }
}

// Of sites with an organisation: without one nobody is anybody's.
void write_misfits(std::string& out, const std::vector<const State*>& sites) {
  std::string unassigned, misconfigured;
  for (const State* s : sites) {
    if (!s->organisation) continue;
    int64_t nobodys = 0;
    std::map<policy::SlipKind, int64_t> slips;
    for (const auto& [id, w] : s->workloads) {
      if (w.ended) continue;
      nobodys += s->names.name(w.team) == kUnassigned ? 1 : 0;
      for (const policy::Slip& slip : w.slips) ++slips[slip.kind];
    }
    unassigned +=
        fmt::format("fairlead_unassigned_workloads{} {}\n", labels({{"site", s->site}}), nobodys);
    for (const auto& [kind, n] : slips)
      misconfigured += fmt::format("fairlead_misconfigured_workloads{} {}\n",
                                   labels({{"site", s->site}, {"what", enum_name(kind)}}), n);
  }
  head(out, "fairlead_unassigned_workloads", "gauge",
       "Waiting and running workloads that no rule of the organisation matches.");
  out += unassigned;
  head(out, "fairlead_misconfigured_workloads", "gauge",
       "Waiting and running workloads with a name that fits nothing, by what it names.");
  out += misconfigured;
}

// Of one look in so many the index is counted from scratch.
void write_index_checks(std::string& out, const std::vector<const State*>& sites) {
  std::string done, failed;
  for (const State* s : sites) {
    if (!s->allocation) continue;
    const std::string site = labels({{"site", s->site}});
    done += fmt::format("fairlead_index_checks_total{} {}\n", site, s->allocation->checks.done);
    failed +=
        fmt::format("fairlead_index_mismatches_total{} {}\n", site, s->allocation->checks.failed);
  }
  head(out, "fairlead_index_checks_total", "counter",
       "Times that the capacity index was counted from scratch, since the start.");
  out += done;
  head(out, "fairlead_index_mismatches_total", "counter",
       "Of these, times that it did not agree and was made anew; above zero is a fault of ours.");
  out += failed;
}

}  // namespace

void Metrics::count(const std::string& site, const std::vector<Decision>& decisions) {
  for (const Decision& d : decisions) {
    const bool suggested = d.kind == DecisionKind::start_suggested ||
                           d.kind == DecisionKind::take_back_suggested ||
                           d.kind == DecisionKind::make_room_suggested;
    ++decisions_[labels({{"site", site},
                         {"kind", enum_name(d.kind)},
                         {"stage", enum_name(suggested ? Stage::suggest : Stage::observe)},
                         {"rule", ""}})];
  }
}

namespace {
constexpr std::array<double, 8> kStepBounds = {1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 10};
}  // namespace

void Metrics::observe_step(double seconds) {
  ++steps_;
  step_sum_ += seconds;
  for (size_t i = 0; i < kStepBounds.size(); ++i)
    step_buckets_[i] += seconds <= kStepBounds[i] ? 1 : 0;
}

// Work that is lost leaves its former column, and a counter may neither fall nor go away for that.
void Metrics::never_back(const std::string& series, double value) {
  double& last = last_[series];
  last = std::max(last, value);
}

void Metrics::write_counter(std::string& out, const std::string& name) const {
  const std::string begin = name + "{";
  for (auto it = last_.lower_bound(begin); it != last_.end() && it->first.starts_with(begin);
       ++it) {
    out += fmt::format("{} {}\n", it->first, it->second);
  }
}

std::string Metrics::page(const std::vector<const State*>& sites) {
  std::string out;
  head(out, "fairlead_gpu_seconds_total", "counter", "GPU-seconds by column of the ledger.");
  for (const State* s : sites) {
    for (const auto& [key, ms] : seconds_by_key(*s)) {
      const std::string series =
          "fairlead_gpu_seconds_total" + labels({{"site", s->site},
                                                 {"device", s->names.name(key.model)},
                                                 {"team", s->names.name(key.team)},
                                                 {"class", s->names.name(key.klass)},
                                                 {"column", enum_name(key.column)}});
      never_back(series, static_cast<double>(ms) / 1000);
    }
  }
  write_counter(out, "fairlead_gpu_seconds_total");
  head(out, "fairlead_gpus", "gauge", "GPUs now, by column.");
  for (const State* s : sites) {
    for (const auto& [key, milli] : devices_by_key(*s)) {
      out += fmt::format("fairlead_gpus{} {}\n",
                         labels({{"site", s->site},
                                 {"device", s->names.name(key.model)},
                                 {"team", s->names.name(key.team)},
                                 {"class", s->names.name(key.klass)},
                                 {"state", enum_name(key.column)}}),
                         static_cast<double>(milli) / 1000);
    }
  }
  head(out, "fairlead_lost_gpu_seconds_total", "counter",
       "GPU-seconds of work thrown away by evictions and failures.");
  for (const State* s : sites) {
    int64_t lost = 0;
    for (const auto& [key, ms] : seconds_by_key(*s)) lost += key.column == Column::lost ? ms : 0;
    const std::string series = "fairlead_lost_gpu_seconds_total" + labels({{"site", s->site}});
    never_back(series, static_cast<double>(lost) / 1000);
  }
  write_counter(out, "fairlead_lost_gpu_seconds_total");
  head(out, "fairlead_idle_hold_gpus", "gauge", "GPUs in idle holds now, by kind.");
  for (const State* s : sites) {
    std::map<IdleKind, int64_t> kinds;
    for (const auto& [id, w] : s->workloads) kinds[w.idle.kind] += w.idle.devices;
    for (int k = 1; k <= static_cast<int>(kIdleKindLast); ++k) {
      const auto kind = static_cast<IdleKind>(k);
      out += fmt::format("fairlead_idle_hold_gpus{} {}\n",
                         labels({{"site", s->site}, {"kind", enum_name(kind)}}), kinds[kind]);
    }
  }
  head(out, "fairlead_waiting_workloads", "gauge",
       "Waiting workloads by their first blocker (the 1,000 first in order).");
  for (const State* s : sites) {
    std::map<std::string, int64_t> blockers;
    for (const WaitingRow& row : queue_of(*s, 1000).waiting) {
      ++blockers[row.blockers.empty() ? "" : enum_name(row.blockers[0])];
    }
    for (const auto& [code, n] : blockers) {
      out += fmt::format("fairlead_waiting_workloads{} {}\n",
                         labels({{"site", s->site}, {"blocker", code}}), n);
    }
  }
  write_misfits(out, sites);
  write_index_checks(out, sites);
  head(out, "fairlead_fragmentation_ratio", "gauge",
       "Share of free GPUs that no waiting shape fits on.");
  for (const State* s : sites) {
    int64_t free = 0;
    int64_t stranded = 0;
    for (const auto& [key, milli] : devices_by_key(*s)) {
      if (key.column == Column::free) free += milli;
      if (key.column == Column::stranded) stranded += milli;
    }
    const double ratio = free + stranded == 0
                             ? 0
                             : static_cast<double>(stranded) / static_cast<double>(free + stranded);
    out += fmt::format("fairlead_fragmentation_ratio{} {}\n", labels({{"site", s->site}}), ratio);
  }
  head(out, "fairlead_source_age_seconds", "gauge", "Age of what a source said last.");
  for (const State* s : sites) {
    for (size_t i = 0; i < s->sources.size(); ++i) {
      if (!s->sources[i].last_ok.known()) continue;
      out += fmt::format("fairlead_source_age_seconds{} {}\n",
                         labels({{"site", s->site}, {"source", enum_name(static_cast<Source>(i))}}),
                         static_cast<double>((s->now - s->sources[i].last_ok).us) / 1e6);
    }
  }
  head(out, "fairlead_queue_wait_seconds", "histogram",
       "Submission to devices, of workloads that started.");
  for (const State* s : sites) write_waits(out, *s);
  head(out, "fairlead_decisions_total", "counter",
       "What the engine concluded, since this process started.");
  for (const auto& [series, n] : decisions_)
    out += fmt::format("fairlead_decisions_total{} {}\n", series, n);
  head(out, "fairlead_step_seconds", "histogram", "Time to take in one poll.");
  for (size_t i = 0; i < kStepBounds.size(); ++i) {
    out += fmt::format("fairlead_step_seconds_bucket{{le=\"{}\"}} {}\n", kStepBounds[i],
                       step_buckets_[i]);
  }
  out += fmt::format(
      "fairlead_step_seconds_bucket{{le=\"+Inf\"}} {}\nfairlead_step_seconds_sum "
      "{}\nfairlead_step_seconds_count {}\n",
      steps_, step_sum_, steps_);
  return out;
}

}  // namespace fairlead

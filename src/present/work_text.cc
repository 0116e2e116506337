#include "present/work_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "present/start_text.h"

namespace fairlead {
namespace {

// The time of the answer: a workload that waits tells how long it has.
Instant now_of(const Explanation& x, const TextOptions& options) {
  if (options.now.known()) return options.now;
  if (x.waiting_since.known()) return x.waiting_since + Duration{x.wait_us};
  return x.as_of;
}

std::string amount_text(int64_t n, std::string_view unit) {
  if (unit == "s") return to_short_text(seconds(n));
  return unit.empty() ? with_thousands(n) : fmt::format("{} {}", with_thousands(n), unit);
}

std::string state_line(const Explanation& x, Instant now) {
  std::string text =
      x.wait_us > 0 || x.state == "pending" ? "waiting " + wait_text(x.wait_us) : words(x.state);
  if (x.state == "running" && x.started.known()) text += " for " + age(x.started, now);
  if (x.ended.known()) text += " " + short_time(x.ended);
  if (!x.as_of.known()) return text + ", no facts yet";
  return text + (now > x.as_of ? ", as of " + age(x.as_of, now) + " ago"
                               : ", as of " + short_time(x.as_of));
}

std::string head(const Explanation& x, const TextOptions& options, Instant now) {
  const std::string who = fmt::format(
      "{}  {}  {} / {} / {}", x.workload, x.name.empty() ? "(no name)" : x.name,
      x.team.empty() ? "(no team)" : x.team, x.klass.empty() ? "(no class)" : x.klass, x.user);
  const std::string left = printable(who), right = state_line(x, now);
  const auto width = static_cast<size_t>(options.width);
  const size_t used = display_width(left) + display_width(right);
  std::string out = used + 2 <= width ? left + std::string(width - used, ' ') + right + "\n"
                                      : paragraph(who, options, 0) + paragraph(right, options, 0);
  if (!x.wants.empty())
    out += paragraph("wants " + x.wants + (x.partition.empty() ? "" : ", partition " + x.partition),
                     options, 0);
  return out;
}

std::string blockers_block(const Explanation& x, const TextOptions& options, Instant now) {
  Table table{.columns = {{"code"},
                          {"short by"},
                          {"who holds it"},
                          {"waiting cures it"},
                          {"cheapest cure"}},
              .rows = {}};
  for (const Blocker& b : x.blockers) {
    table.rows.push_back({enum_name(b.code), short_by_text(b),
                          holders_text(b, options.wide ? SIZE_MAX : 4), waiting_cures_text(b, now),
                          b.cure.empty() ? "-" : b.cure});
  }
  // What the other cells leave is shared by the two that wrap; one that needs less than half leaves
  // the rest.
  const auto most_of = [&](size_t column) {
    size_t most = display_width(table.columns[column].title);
    for (const auto& row : table.rows) most = std::max(most, display_width(row[column]));
    return most;
  };
  const size_t fixed = 2 + 4 * 2 + most_of(0) + most_of(1) + most_of(3);
  const size_t left = std::max<size_t>(30, static_cast<size_t>(options.width) > fixed
                                               ? static_cast<size_t>(options.width) - fixed
                                               : 0);
  const size_t cure =
      most_of(4) < left / 2 ? most_of(4) : std::max(left / 2, left - std::min(left, most_of(2)));
  return block(table, options, {.cell_widths = {0, 0, left - cure, 0, cure}});
}

std::string facts_of(const Blocker& b, const TextOptions& options, Instant now) {
  const std::string where = b.object + (b.limit_name.empty() ? "" : ", " + b.limit_name);
  std::string out = paragraph(fmt::format("{}{}: {}", enum_name(b.code),
                                          where.empty() ? "" : " (" + where + ")", b.message),
                              options);
  if (!options.wide || b.holders.empty()) return out;
  Table table{.columns = {{"held by"},
                          {"team"},
                          {"user"},
                          {"amount", Align::right},
                          {"ends at the latest", Align::right},
                          {"idle"}},
              .rows = {}};
  for (const Holder& h : b.holders) {
    table.rows.push_back(
        {h.workload, h.team, h.user, amount_text(h.amount, b.unit),
         h.ends.known() ? (h.ends > now ? "in " + age(now, h.ends) : "overdue") : "no limit",
         h.idle == IdleKind::none ? "" : words(enum_name(h.idle))});
  }
  out += block(table, options, {.indent = 4});
  return b.holders_more > 0 ? out + fmt::format("    … {} more\n", b.holders_more) : out;
}

std::string use_of(const Explanation& x, const TextOptions& options, Instant now) {
  if (x.gpu_seconds.total() == 0 && x.devices == 0) return "";
  const ColumnSeconds s = {.useful = x.gpu_seconds.useful,
                           .held_idle = x.gpu_seconds.held_idle,
                           .held_unmeasured = x.gpu_seconds.held_unmeasured,
                           .lost = x.gpu_seconds.lost,
                           .reserved = x.gpu_seconds.reserved,
                           .free = x.gpu_seconds.free,
                           .stranded = x.gpu_seconds.stranded,
                           .down = x.gpu_seconds.down,
                           .total = x.gpu_seconds.total()};
  std::string title = x.devices > 0 ? "holds " + plural(x.devices, "GPU")
                                    : "held " + gpu_hours(s.total) + " GPU-hours";
  if (!x.nodes.empty()) title += " on " + x.nodes;
  if (x.epoch > 1) title += fmt::format(", run {}", x.epoch);
  std::string out = "\n" + paragraph(title, options);
  if (s.total > 0) {
    out += "  " + bar(s, std::max(10, options.width - 4), options) + "\n";
    Table table{
        .columns = {{" "}, {"column"}, {"GPU-hours", Align::right}, {"share", Align::right}},
        .rows = {}};
    for (const ColumnLook& look : column_looks()) {
      const int64_t n = amount(s, look.column);
      if (n > 0)
        table.rows.push_back(
            {std::string(look.glyph), std::string(look.title), gpu_hours(n), share(n, s.total)});
    }
    out += block(table, options);
  }
  if (x.idle_kind != IdleKind::none)
    out += paragraph(
        fmt::format("idle now: {}, for {}", words(enum_name(x.idle_kind)), age(x.idle_since, now)),
        options);
  return out;
}

std::string exit_text(int32_t code) {
  if (code > 128) return fmt::format("exit code {} (signal {})", code, code - 128);
  return fmt::format("exit code {}", code);
}

// When it waited and ran, and how each run ended.
std::string life_of(const Explanation& x, const TextOptions& options) {
  if (!x.over && x.runs.empty()) return "";
  std::string out = "\n";
  if (x.over) {
    std::string line =
        fmt::format("submitted {}, waited {}", short_time(x.submitted), wait_text(x.waited_us));
    if (x.started.known()) line += ", started " + short_time(x.started);
    line += ", ended " + short_time(x.ended);
    if (x.ran_us > 0) {
      line += ", ran " + to_short_text(Duration{x.ran_us});
      line += x.time_limit_s >= 0 ? " of a time limit of " + to_short_text(seconds(x.time_limit_s))
                                  : ", no time limit";
    }
    out += paragraph(line + "; " + words(x.state) + ", " + exit_text(x.exit_code), options);
  }
  if (x.runs.size() < 2 && x.over) return out;
  Table table{.columns = {{"run", Align::right},
                          {"submitted"},
                          {"started"},
                          {"ran", Align::right},
                          {"ended as"},
                          {"exit code", Align::right},
                          {"nodes"}},
              .rows = {}};
  for (const RunTold& run : x.runs) {
    table.rows.push_back({std::to_string(run.epoch), short_time(run.submitted),
                          run.started.known() ? short_time(run.started) : "-",
                          run.started.known() ? to_short_text(run.ended - run.started) : "-",
                          words(run.state), std::to_string(run.exit_code),
                          run.nodes.empty() ? "-" : run.nodes});
  }
  return out + block(table, options);
}

std::string scheduler_line(const Explanation& x) {
  if (x.scheduler_reason.empty()) return "";
  std::string text = "the scheduler says " + x.scheduler_reason;
  text += x.scheduler_agrees ? "" : ", which is none of the above";
  if (x.scheduler_start_estimate.known())
    text += "; it plans a start at " + short_time(x.scheduler_start_estimate);
  return text;
}

// "by acme v7 it would start now on n[3-4], as for 12m" — what is suggested, and not done.
std::string policy_line(const Explanation& x, Instant now) {
  const VerdictTold& p = x.policy;
  if (p.organisation.empty() || x.state != "pending") return "";
  if (p.verdict.empty())
    return fmt::format("by {} nothing is said of it: it waits for something else first",
                       p.organisation);
  if (p.verdict == "start") {
    std::string text = fmt::format("by {} it would start now on {}", p.organisation, p.nodes);
    if (p.since.known() && now > p.since) text += ", for " + age(p.since, now) + " already";
    if (!p.takes_back.empty())
      text += fmt::format(", with devices taken back from {}", fmt::join(p.takes_back, " "));
    if (!p.because.empty()) text += ", " + p.because;
    return text + " (suggested, nothing is done)";
  }
  if (p.verdict == "make_room") {
    int64_t lost = 0;
    for (const MoveTold& move : p.moves) lost += move.lost_gpu_seconds;
    return fmt::format(
        "by {} it would start now on {} if others were moved: {}; {} GPU-hours again (suggested, "
        "nothing is done)",
        p.organisation, p.nodes, to_text(p.moves), gpu_hours(lost));
  }
  std::string text = fmt::format("by {} it would wait: {}", p.organisation, p.because);
  if (p.verdict == "reserve")
    text += p.at.known() ? "; its devices are promised for " + short_time(p.at)
                         : "; it is the next, and no end is known";
  return text;
}

}  // namespace

std::string short_by_text(const Blocker& b) {
  if (b.short_by <= 0) return "-";
  const std::string amount = amount_text(b.short_by, b.unit);
  if (b.unit == "s" || b.limit <= 0) return amount;
  return fmt::format("{} of {}", with_thousands(b.short_by), amount_text(b.limit, b.unit));
}

std::string holders_text(const Blocker& b, size_t most) {
  // Neighbours of one team share its name; one that is idle says so.
  std::string out;
  size_t shown = 0;
  for (size_t i = 0; i < b.holders.size() && shown < most; ++i, ++shown) {
    const Holder& h = b.holders[i];
    const bool idle = h.idle != IdleKind::none;
    const bool goes_on = i > 0 && b.holders[i - 1].team == h.team &&
                         (b.holders[i - 1].idle != IdleKind::none) == idle;
    if (i > 0) out += goes_on ? " " : ", ";
    if (idle && !goes_on) out += "idle ";
    out += h.workload;
    const bool last = i + 1 >= b.holders.size() || shown + 1 >= most;
    const bool next_same = !last && b.holders[i + 1].team == h.team &&
                           (b.holders[i + 1].idle != IdleKind::none) == idle;
    if (!next_same && !h.team.empty()) out += " (" + h.team + ")";
  }
  const int64_t more = b.holders_more + static_cast<int64_t>(b.holders.size() - shown);
  if (more > 0) out += fmt::format("{}{} more", out.empty() ? "" : ", ", more);
  if (!out.empty()) return out;
  return b.object.empty() ? "-" : b.object;
}

std::string waiting_cures_text(const Blocker& b, Instant now) {
  if (b.waiting_cures == WaitingCures::never) return "no";
  if (b.cured_at.known() && b.cured_at > now)
    return "in " + age(now, b.cured_at) + " at the latest";
  return b.waiting_cures == WaitingCures::yes ? "yes" : "not known";
}

std::string queue_text(const Queue& q, const TextOptions& options) {
  const std::string note = q.note.empty() ? "" : fmt::format("Note: {}\n\n", printable(q.note));
  if (q.waiting.empty()) {
    return q.as_of.known() ? note + fmt::format("Nothing waits, as of {}.\n", short_time(q.as_of))
                           : "The queue was never read: `fairlead doctor` says what can be read.\n";
  }
  // On a narrow screen what blocks is worth more than who submitted it and with what priority.
  const bool roomy = options.wide || options.width >= 140;
  Table table{.columns = {{"workload"},
                          {"team"},
                          {"class"},
                          {"wants"},
                          {"waits", Align::right},
                          {"verdict"},
                          {"blockers"},
                          {"in words"}},
              .rows = {}};
  if (roomy) {
    table.columns.insert(table.columns.begin() + 2, {"user"});
    table.columns.insert(table.columns.begin() + 6, {"priority", Align::right});
  }
  const bool narrow = !options.wide && options.width < 120;
  if (narrow) table.columns.erase(table.columns.begin() + 2, table.columns.begin() + 4);
  if (options.wide)
    table.columns.insert(table.columns.begin() + 8,
                         {{"start P50", Align::right}, {"start P90", Align::right}});
  const Instant now = options.now.known() ? options.now : q.as_of;
  for (const WaitingRow& w : q.waiting) {
    std::string blockers = w.blockers.empty() ? "-" : enum_name(w.blockers[0]);
    if (options.wide) {
      for (size_t i = 1; i < w.blockers.size(); ++i)
        blockers += std::string(" ") + enum_name(w.blockers[i]);
    } else if (w.blockers.size() > 1) {
      blockers += fmt::format(" +{}", w.blockers.size() - 1);
    }
    std::vector<std::string> cells = {
        w.tasks > 1 ? fmt::format("{} ({} tasks)", w.workload, w.tasks) : w.workload,
        w.team,
        w.klass,
        w.gang,
        wait_text(w.wait_us),
        w.can_never_start   ? "never"
        : w.verdict.empty() ? "waits"
                            : words(w.verdict),
        blockers,
        w.message};
    if (roomy) {
      cells.insert(cells.begin() + 2, w.user);
      cells.insert(cells.begin() + 6, with_thousands(w.priority));
    }
    if (narrow) cells.erase(cells.begin() + 2, cells.begin() + 4);  // class and wants
    if (options.wide)
      cells.insert(cells.begin() + 8, {start_cell(w.start_p50, now), start_cell(w.start_p90, now)});
    table.rows.push_back(std::move(cells));
  }
  std::string out = note + block(table, options, {.indent = 0});
  if (q.waiting_more > 0) out += fmt::format("… {} more\n", with_thousands(q.waiting_more));
  return out;
}

Table queue_table(const Queue& q) {
  Table table{.columns = {{"workload"},
                          {"team"},
                          {"user"},
                          {"class"},
                          {"partition"},
                          {"gang"},
                          {"gpus", Align::right},
                          {"tasks", Align::right},
                          {"wait_us", Align::right},
                          {"priority", Align::right},
                          {"can_never_start"},
                          {"verdict"},
                          {"start_p50"},
                          {"start_p90"},
                          {"blockers"},
                          {"message"},
                          {"scheduler_reason"},
                          {"scheduler_agrees"}},
              .rows = {}};
  for (const WaitingRow& w : q.waiting) {
    std::string blockers;
    for (const BlockerCode code : w.blockers)
      blockers += (blockers.empty() ? "" : " ") + std::string(enum_name(code));
    table.rows.push_back({w.workload, w.team, w.user, w.klass, w.partition, w.gang,
                          std::to_string(w.gpus), std::to_string(w.tasks),
                          std::to_string(w.wait_us), std::to_string(w.priority),
                          w.can_never_start ? "true" : "false", w.verdict,
                          w.start_p50.known() ? to_rfc3339(w.start_p50) : "",
                          w.start_p90.known() ? to_rfc3339(w.start_p90) : "", blockers, w.message,
                          w.scheduler_reason, w.scheduler_agrees ? "true" : "false"});
  }
  return table;
}

std::string explanation_text(const Explanation& x, const TextOptions& options) {
  const Instant now = now_of(x, options);
  std::string out = head(x, options, now);
  if (!x.blockers.empty()) {
    out += "\n" + blockers_block(x, options, now);
    if (!x.enough.empty())
      out += "\n" + paragraph("one change that is enough: " + x.enough, options);
    if (x.can_never_start) out += "\n" + paragraph("It can never start as it is.", options);
    out += "\n";
    for (const Blocker& b : x.blockers) out += facts_of(b, options, now);
  } else if (x.state == "pending") {
    out += "\n" + paragraph("No blocker is known.", options);
  }
  out += life_of(x, options);
  out += use_of(x, options, now);
  std::string rest;
  if (x.state == "pending") rest += start_paragraph(x, options, now);
  if (x.state == "pending")
    rest += paragraph(fmt::format("priority {}; {} ahead of it", with_thousands(x.priority),
                                  plural(x.ahead, "workload")),
                      options);
  if (const std::string line = policy_line(x, now); !line.empty()) rest += paragraph(line, options);
  if (const std::string line = scheduler_line(x); !line.empty()) rest += paragraph(line, options);
  for (const std::string& slip : x.misconfigured)
    rest += paragraph("misconfigured: " + slip, options);
  if (!x.note.empty()) rest += paragraph("not known: " + x.note, options);
  return rest.empty() ? out : out + "\n" + rest;
}

Table explanation_table(const Explanation& x) {
  Table table{.columns = {{"workload"},
                          {"code"},
                          {"object"},
                          {"limit_name"},
                          {"unit"},
                          {"limit", Align::right},
                          {"used", Align::right},
                          {"wanted", Align::right},
                          {"short_by", Align::right},
                          {"holders"},
                          {"waiting_cures"},
                          {"cured_at"},
                          {"cure"},
                          {"cure_effect"},
                          {"by_policy"},
                          {"message"}},
              .rows = {}};
  for (const Blocker& b : x.blockers) {
    std::string holders;
    for (const Holder& h : b.holders) holders += (holders.empty() ? "" : " ") + h.workload;
    table.rows.push_back({x.workload, enum_name(b.code), b.object, b.limit_name, b.unit,
                          std::to_string(b.limit), std::to_string(b.used), std::to_string(b.wanted),
                          std::to_string(b.short_by), holders, enum_name(b.waiting_cures),
                          b.cured_at.known() ? to_rfc3339(b.cured_at) : "", b.cure,
                          enum_name(b.cure_effect), b.by_policy ? "true" : "false", b.message});
  }
  return table;
}

}  // namespace fairlead

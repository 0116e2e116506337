#include "present/top_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "present/report_sections.h"
#include "present/select.h"

namespace fairlead {
namespace {

constexpr TopKey kKeys[] = {
    {'p', TopOrder::as_told, "priority"}, {'g', TopOrder::gpus, "GPUs"},
    {'w', TopOrder::wait, "wait"},        {'i', TopOrder::idle, "idle"},
    {'n', TopOrder::name, "name"},
};

// The field that each list is sorted by; empty: as the report has it.
struct Sorts {
  const char *teams, *idle_holds, *waiting;
};

Sorts sorts_of(TopOrder order) {
  switch (order) {
    case TopOrder::gpus:
      return {"gpu_seconds.total", "gpus", "gpus"};
    case TopOrder::wait:
      return {"wait_us.p90", "since", "wait_us"};
    case TopOrder::idle:
      return {"gpu_seconds.held_idle", "gpu_seconds", ""};
    case TopOrder::name:
      return {"team", "workload", "workload"};
    case TopOrder::as_told:
      break;
  }
  return {"", "", ""};
}

void sort_lists(Report& r, TopOrder order) {
  const Sorts sorts = sorts_of(order);
  CHECK(select(r.teams, {.filters = {}, .sort = sorts.teams, .limit = {}}).has_value());
  const char* classes = order == TopOrder::name ? "name" : sorts.teams;
  CHECK(select(r.classes, {.filters = {}, .sort = classes, .limit = {}}).has_value());
  CHECK(select(r.idle_holds, {.filters = {}, .sort = sorts.idle_holds, .limit = {}}).has_value());
  CHECK(select(r.waiting, {.filters = {}, .sort = sorts.waiting, .limit = {}}).has_value());
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

std::string fitted(const std::string& text, const TextOptions& t) {
  return wrap(printable(text), static_cast<size_t>(std::max(1, t.width))).front();
}

std::string strong(const std::string& text, const TextOptions& t) {
  return t.colour ? "\x1b[1m" + text + "\x1b[0m" : text;
}

std::string keys_line(const TopOptions& o) {
  std::string text = "q quit   sort:";
  for (const TopKey& k : kKeys) {
    const bool chosen = o.order == k.order;
    text += fmt::format("  {} {}{}{}", k.key, chosen ? "[" : "", k.title, chosen ? "]" : "");
  }
  return text + (o.by_class ? "   c teams" : "   c classes");  // last: a narrow screen cuts it
}

std::string now_line(const Report& r, const TextOptions& t) {
  std::string text, plain;
  for (const ColumnLook& look : column_looks()) {
    int64_t gpus = 0;
    for (const ModelRow& m : r.models) gpus += amount(m.gpus, look.column);
    if (gpus == 0) continue;
    const std::string part = fmt::format("{} {}   ", look.title, with_thousands(gpus));
    plain += std::string(look.glyph) + " " + part;
    if (display_width(plain) > static_cast<size_t>(t.width)) break;
    text += glyph(look, t) + " " + part;
  }
  return text;
}

std::string model_bar(const ModelRow& m, size_t names, const TextOptions& t) {
  std::string name = wrap(model_name(m.model), names).front();
  name += std::string(names - std::min(names, display_width(name)), ' ');
  const std::string size = fmt::format("{:>10}", plural(m.gpus.total, "GPU"));
  const auto cells = t.width - static_cast<int64_t>(names) - 2 - 10;
  if (cells < 5 || m.gpus.total == 0) return fitted(name + " " + size, t);
  return name + " " + bar(m.gpus, cells, t) + " " + size;
}

struct Panel {
  std::string title;
  Table table;
  std::string empty;  // what is said of a list without rows
  size_t rows = 0;    // that it gets

  size_t wants() const { return std::max<size_t>(1, table.rows.size()); }
};

// Of teams or of classes; what teams hold beside what they own, where an organisation says so.
template <class Rows>
Table rows_table(const Report& r, const char* title, const Rows& rows) {
  using Row = std::ranges::range_value_t<Rows>;
  constexpr bool kTeams = std::is_same_v<Row, TeamRow>;
  bool owned = false;
  if constexpr (kTeams)
    owned = std::ranges::any_of(rows, [](const TeamRow& row) { return row.own_gpus >= 0; });
  Table table{.columns = {{title},
                          {"GPU-hours", Align::right},
                          {"useful", Align::right},
                          {"idle", Align::right},
                          {"workloads", Align::right},
                          {"P50 wait", Align::right},
                          {"P90 wait", Align::right}},
              .rows = {}};
  if (owned)
    table.columns.insert(table.columns.begin() + 1,
                         {{"holds", Align::right}, {"own", Align::right}});
  for (const Row& row : rows) {
    const ColumnSeconds& s = row.gpu_seconds;
    const bool started = row.started > 0;
    std::string name = row.name;
    if constexpr (kTeams) name = row.team;
    std::vector<std::string> cells = {
        name_or_none(name),
        gpu_hours(s.total),
        knowable(r, Column::useful) ? share(s.useful, s.total) : "-",
        knowable(r, Column::held_idle) ? share(s.held_idle, s.total) : "-",
        with_thousands(row.workloads),
        started ? wait_text(row.wait_us.p50) : "-",
        started ? wait_text(row.wait_us.p90) : "-"};
    if constexpr (kTeams) {
      const auto gpus = [&](int64_t n) { return row.own_gpus < 0 ? "-" : with_thousands(n); };
      if (owned) cells.insert(cells.begin() + 1, {gpus(row.held_gpus), gpus(row.own_gpus)});
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

std::vector<Panel> panels_of(const Report& r, bool by_class) {
  const auto waiting = static_cast<int64_t>(r.waiting.size()) + r.waiting_more;
  int64_t idle = 0;
  for (const IdleHoldRow& hold : r.idle_holds) idle += hold.gpus;
  return {by_class ? Panel{"Classes", rows_table(r, "class", r.classes), "No class was seen yet."}
                   : Panel{"Teams", rows_table(r, "team", r.teams), "No team was seen yet."},
          {idle == 0 ? "Idle holds" : "Idle holds: " + plural(idle, "GPU"), idle_holds_table(r),
           r.idle_holds.empty() ? why_no_idle(r) : ""},
          {waiting == 0 ? "Waiting" : "Waiting: " + plural(waiting, "workload"),
           waiting_table(r.waiting), "Nothing waits."}};
}

// Shares `rows` between the panels: each gets the same, and what one leaves the others take.
void share_rows(std::vector<Panel>& panels, size_t rows) {
  bool given = true;
  while (rows > 0 && std::exchange(given, false)) {
    for (Panel& p : panels) {
      if (rows == 0 || p.rows >= p.wants()) continue;
      ++p.rows;
      --rows;
      given = true;
    }
  }
}

void add_panel(std::vector<std::string>& out, const Panel& p, const TextOptions& t) {
  out.push_back(strong(fitted(p.title, t), t));
  if (p.table.rows.empty()) {
    out.push_back(fitted("  " + p.empty, t));
    return;
  }
  Table shown = p.table;
  shown.rows.resize(std::min(p.rows, shown.rows.size()));
  TableOptions options{.headers = t.headers, .width_max = std::max(1, t.width)};
  for (std::string& line : lines_of(to_text(shown, options))) out.push_back(std::move(line));
}

}  // namespace

std::span<const TopKey> top_keys() { return kKeys; }

std::vector<std::string> top_lines(Report r, const TopOptions& o) {
  sort_lists(r, o.order);
  const TextOptions& t = o.text;
  // 1. The head: title, bars, what the glyphs count.
  std::vector<std::string> out;
  const std::string title = fmt::format("{}   {}   {} since {}", r.site, short_time(r.to),
                                        plural(r.gpus, "GPU"), short_time(r.from));
  out.push_back(strong(fitted(title, t), t));
  out.push_back(fitted(o.status.empty() ? keys_line(o) : o.status, t));
  size_t names = 1;
  for (const ModelRow& m : r.models) names = std::max(names, display_width(model_name(m.model)));
  names = std::min<size_t>(names, 16);
  constexpr size_t kBarsMax = 4;
  for (size_t i = 0; i < std::min(kBarsMax, r.models.size()); ++i)
    out.push_back(model_bar(r.models[i], names, t));
  out.push_back(now_line(r, t));
  // 2. The panels share what is left: each has a blank line, a title and a head of its table. A
  //    small screen has the last ones alone.
  constexpr size_t kPanelFrame = 3, kRowsLeast = 2;
  std::vector<Panel> panels = panels_of(r, o.by_class);
  const auto height = static_cast<size_t>(std::max(1, o.height));
  while (panels.size() > 1 && height < out.size() + panels.size() * (kPanelFrame + kRowsLeast))
    panels.erase(panels.begin());
  const size_t fixed = out.size() + panels.size() * kPanelFrame;
  share_rows(panels, height > fixed ? height - fixed : 0);
  for (const Panel& p : panels) {
    if (p.rows == 0) continue;
    out.emplace_back();
    add_panel(out, p, t);
  }
  if (out.size() > height) out.resize(height);
  return out;
}

}  // namespace fairlead

#include "present/report_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "present/report_sections.h"

namespace fairlead {
namespace {

std::string title_of(const Report& r, const TextOptions& options) {
  const std::string span = wait_text((r.to - r.from).us);
  const std::string text =
      fmt::format("{}   {} to {} ({})   {}", r.site, short_time(r.from), short_time(r.to), span,
                  r.fleet_known ? plural(r.gpus, "GPU") : "the fleet is not known");
  const std::string shown =
      wrap(printable(text), static_cast<size_t>(std::max(20, options.width))).front();
  return options.colour ? "\x1b[1m" + shown + "\x1b[0m\n" : shown + "\n";
}

// The seconds of the window; before anything is booked, the devices as they are now.
ColumnSeconds shown_of(const ModelRow& m) {
  return m.gpu_seconds.total > 0 ? m.gpu_seconds : m.gpus;
}

std::string bars(const Report& r, const TextOptions& options) {
  size_t names = 0;
  for (const ModelRow& m : r.models) names = std::max(names, display_width(model_name(m.model)));
  names = std::min<size_t>(names, 20);
  std::string out;
  for (const ModelRow& m : r.models) {
    const ColumnSeconds amounts = shown_of(m);
    const std::string name = wrap(model_name(m.model), std::max<size_t>(names, 1)).front();
    const std::string size =
        m.gpus.total > 0 ? plural(m.gpus.total, "GPU") : gpu_hours(m.gpu_seconds.total) + " h";
    const std::string tail = fmt::format("{:>11}", size);
    const int64_t cells =
        std::max<int64_t>(10, options.width - 2 - static_cast<int64_t>(names) - 2 - 2 - 11);
    out += "  " + name + std::string(names - std::min(names, display_width(name)), ' ') + "  ";
    out += amounts.total > 0 ? bar(amounts, cells, options)
                             : std::string(static_cast<size_t>(cells), ' ');
    out += "  " + tail + "\n";
  }
  return out;
}

// What the glyphs mean, with hours and shares, and the devices now.
std::string legend(const Report& r, const TextOptions& options) {
  ColumnSeconds now;
  for (const ModelRow& m : r.models) {
    now = {.useful = now.useful + m.gpus.useful,
           .held_idle = now.held_idle + m.gpus.held_idle,
           .held_unmeasured = now.held_unmeasured + m.gpus.held_unmeasured,
           .lost = now.lost + m.gpus.lost,
           .reserved = now.reserved + m.gpus.reserved,
           .free = now.free + m.gpus.free,
           .stranded = now.stranded + m.gpus.stranded,
           .down = now.down + m.gpus.down,
           .total = now.total + m.gpus.total};
  }
  Table table{.columns = {{" "},
                          {"column"},
                          {"GPU-hours", Align::right},
                          {"share", Align::right},
                          {"GPUs now", Align::right}},
              .rows = {}};
  const bool several = r.models.size() > 1 && (r.models.size() <= 4 || options.wide);
  for (const ModelRow& m : r.models) {
    if (several) table.columns.push_back({model_name(m.model), Align::right});
  }
  for (const ColumnLook& look : column_looks()) {
    const bool unknowable = !knowable(r, look.column);
    const int64_t n = amount(r.gpu_seconds, look.column);
    auto& row = table.rows.emplace_back();
    row = {std::string(look.glyph), std::string(look.title), unknowable ? "-" : gpu_hours(n),
           unknowable ? "-" : share(n, r.gpu_seconds.total),
           unknowable ? "-" : with_thousands(amount(now, look.column))};
    for (const ModelRow& m : r.models) {
      if (several)
        row.push_back(unknowable ? "-"
                                 : share(amount(shown_of(m), look.column), shown_of(m).total));
    }
  }
  auto& all = table.rows.emplace_back();
  all = {"", "all", gpu_hours(r.gpu_seconds.total), share(r.gpu_seconds.total, r.gpu_seconds.total),
         with_thousands(now.total)};
  for (const ModelRow& m : r.models) {
    if (several) all.push_back(gpu_hours(m.gpu_seconds.total) + " h");
  }
  std::string text = block(table, options);
  if (!options.colour) return text;
  size_t at = options.headers ? text.find('\n') + 1 : 0;
  for (const ColumnLook& look : column_looks()) {
    text.replace(at + 2, look.glyph.size(), glyph(look, options));
    at = text.find('\n', at) + 1;
  }
  return text;
}

}  // namespace

std::string report_text(const Report& r, const TextOptions& options) {
  std::string out = title_of(r, options) + "\n";
  if (r.models.empty()) {
    out += paragraph(
        "No accelerators are known: neither the scheduler states any nor has a job held any. "
        "`fairlead doctor` says what can be read.",
        options);
  } else {
    out += bars(r, options);
    out += "\n" + legend(r, options);
    if (r.gpu_seconds.total == 0)
      out += paragraph("Nothing is booked yet: the bars show the GPUs as they are now.", options);
  }
  out += "\n";
  for (const std::string& sentence : r.sentences) out += paragraph(sentence, options);
  out += idle_section(r, options) + waits_section(r, options) + waiting_section(r, options);
  out +=
      fragmentation_section(r, options) + requested_section(r, options) + ended_section(r, options);
  return out + sources_section(r, options);
}

}  // namespace fairlead

// Printing a view in the form that was asked for, and saying what went wrong.
#pragma once

#include <fmt/format.h>

#include <string>

#include "codec/json.h"
#include "present/layout.h"
#include "present/select.h"
#include "present/yaml.h"

namespace fairlead {

struct OutputOptions {
  std::string format = "table";  // table, wide, json, yaml, csv, name; html where there is one
  bool headers = true;
  RowQuery query;
  int width = 100;
  bool colour = false;
};

constexpr int kExitGood = 0, kExitFound = 1, kExitUsage = 2, kExitUnreachable = 3,
              kExitNotAllowed = 4, kExitRefused = 5;

constexpr int kExitReaderGone = 141;  // as the shell says of a program that SIGPIPE ended

int exit_code_of(std::string_view code);  // of a diagnostic

// Says the diagnostic on stderr, "fairlead: error: …" where it has no place of its own. Returns the
// exit code that belongs to its code.
int complain(const Diagnostic& diagnostic);
int complain_usage(std::string message, std::string hint);

// Writes to stdout. Returns kExitGood, kExitReaderGone, or what complain() returns where it cannot.
int print(std::string_view text);

// For data that a terminal would obey: control characters that JSON lets stand are escaped in its
// way. Elsewhere than on a terminal data passes as it is.
std::string tame(std::string data);
bool on_terminal();  // stdout

int terminal_width();
bool wants_colour();  // where the terminal has 256 of them and NO_COLOR does not forbid it
bool has_true_colour();

TextOptions text_options(const OutputOptions& options);

// The rows that a query chooses from, where a view has none.
inline constexpr auto kNoRows = [](auto&) -> std::vector<Instant>* { return nullptr; };

// Prints `view` after --filter, --sort and --limit have chosen of its rows. `text` makes the form
// for people, `table` the one for programs, `rows` gives a pointer to the list that both are made
// of, and `own_name` is what its "name" is called.
template <class View>
int print_view(View view, const OutputOptions& options, auto&& text, auto&& table, auto&& rows,
               std::string_view own_name = {}) {
  size_t left_out = 0;
  if (auto* list = rows(view); list != nullptr) {
    if constexpr (!std::is_same_v<std::remove_pointer_t<decltype(list)>, std::vector<Instant>>) {
      const bool had_rows = !list->empty();
      const auto chosen = select(*list, options.query, own_name);
      if (!chosen) return complain(chosen.error());
      left_out = *chosen;
      const bool for_people = options.format == "table" || options.format == "wide";
      if (had_rows && list->empty() && for_people) return print("No row matches the filter.\n");
    }
  } else if (!options.query.empty()) {
    return complain_usage("there are no rows to choose from here", "leave out --filter and --sort");
  }
  if (options.format == "table" || options.format == "wide") {
    const std::string more =
        left_out > 0 ? fmt::format("… {} more (--limit)\n", with_thousands(left_out)) : "";
    return print(text(view, text_options(options)) + more);
  }
  if (options.format == "csv" || options.format == "name") {
    const Table data = on_terminal() ? printable(table(view)) : table(view);
    if (options.format == "csv") return print(to_csv(data, options.headers));
    std::string names;
    for (const auto& row : data.rows) names += (row.empty() ? "" : row[0]) + "\n";
    return print(names);
  }
  const std::string json = json::to_json(view, json::Style::view);
  if (options.format == "json") return print(tame(json + "\n"));
  const auto yaml = json_to_yaml(json);
  return yaml ? print(tame(*yaml)) : complain(yaml.error());
}

}  // namespace fairlead

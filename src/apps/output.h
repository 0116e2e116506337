// Printing a view in the form that was asked for.
#pragma once

#include <fmt/format.h>

#include <string>

#include "codec/json.h"
#include "present/layout.h"
#include "present/yaml.h"

namespace fairlead {

struct OutputOptions {
  std::string format = "table";  // table, wide, json, yaml, csv, name
  bool headers = true;
  int width = 100;
  bool colour = false;
};

constexpr int kExitGood = 0, kExitFound = 1, kExitUsage = 2, kExitUnreachable = 3,
              kExitNotAllowed = 4, kExitRefused = 5;

constexpr int kExitReaderGone = 141;  // as the shell says of a program that SIGPIPE ended

// Says the diagnostic on stderr. Returns the exit code that belongs to its code.
int complain(const Diagnostic& diagnostic);

// Writes to stdout. Returns kExitGood, kExitReaderGone, or what complain() returns where it cannot.
int print(std::string_view text);

int terminal_width();
bool wants_colour();

TextOptions text_options(const OutputOptions& options);

// `text` makes the form for people, `table` the one for programs.
template <class View>
int print_view(const View& view, const OutputOptions& options, auto&& text, auto&& table) {
  if (options.format == "table" || options.format == "wide")
    return print(text(view, text_options(options)));
  if (options.format == "csv") return print(to_csv(table(view), options.headers));
  if (options.format == "name") {
    std::string names;
    for (const auto& row : table(view).rows) names += (row.empty() ? "" : row[0]) + "\n";
    return print(names);
  }
  if (options.format == "html") {
    return complain(
        {.code = "usage", .message = "this has no form in HTML", .place = {}, .hint = "-o json"});
  }
  const std::string json = json::to_json(view, json::Style::view);
  if (options.format == "json") return print(json + "\n");
  const auto yaml = json_to_yaml(json);
  return yaml ? print(*yaml) : complain(yaml.error());
}

}  // namespace fairlead

// What is wrong with a document, said so that the person who wrote it can mend it.
//
// One sentence that stands alone; the exact place; further places where two disagree; one hint that
// can be pasted. Codes are stable: E1xx syntax, E8xx organisation, W... warnings. One structure
// drives the terminal and JSON:
//
//   error[E801]: the teams of `acme` own 264 H100 together; `acme` owns 256
//     --> acme.policy:12:7
//      |
//   12 |   own 256 H100, 64 A100
//      |       ^^^^^^^^ owns 256
//   ..
//   15 |     own 264 H100
//      |         -------- 264 of them
//      = hint: raise it to `own 264 H100`, or lower what its teams own
#pragma once

#include <boost/describe.hpp>
#include <string>
#include <vector>

#include "lang/source.h"

namespace fairlead::lang {

enum class Severity : uint8_t { error, warning };
BOOST_DESCRIBE_ENUM(Severity, error, warning)

struct Label {
  Span span;
  std::string text;  // may be empty
};

struct Diagnostic {
  Severity severity = Severity::error;
  std::string code;
  std::string message;
  Label primary;
  std::vector<Label> others;
  std::string hint;  // may be empty
};

using Diagnostics = std::vector<Diagnostic>;

bool any_error(const Diagnostics& diagnostics);

// By file and place, then by code; what was found twice at one place stays once.
void sort_by_place(Diagnostics& diagnostics);

// As a terminal shows it, with a line end after the last line.
std::string to_text(const Diagnostic& diagnostic, const Sources& sources);

// As programs read it: places are lines and columns.
struct PlacedLabel {
  std::string file;
  uint32_t line = 0, column = 0, end_line = 0, end_column = 0;
  std::string label;
  bool operator==(const PlacedLabel&) const = default;
};
BOOST_DESCRIBE_STRUCT(PlacedLabel, (), (file, line, column, end_line, end_column, label))

struct PlacedDiagnostic {
  Severity severity = Severity::error;
  std::string code, message;
  PlacedLabel place;
  std::vector<PlacedLabel> others;
  std::string hint;
  bool operator==(const PlacedDiagnostic&) const = default;
};
BOOST_DESCRIBE_STRUCT(PlacedDiagnostic, (), (severity, code, message, place, others, hint))

PlacedDiagnostic placed(const Diagnostic& diagnostic, const Sources& sources);

}  // namespace fairlead::lang

#include "base/result.h"

#include <fmt/format.h>

namespace fairlead {

std::string to_text(const Diagnostic& d) {
  std::string text = d.place.source;
  if (d.place.line > 0) text += fmt::format(":{}", d.place.line);
  if (d.place.column > 0) text += fmt::format(":{}", d.place.column);
  if (!text.empty()) text += ": ";
  text += fmt::format("error: {}", d.message);
  if (!d.code.empty()) text += fmt::format("  [{}]", d.code);
  if (!d.hint.empty()) text += fmt::format("\n  help: {}", d.hint);
  return text;
}

}  // namespace fairlead

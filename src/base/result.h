// What went wrong with an input, said so that a person can mend it.
//
// A diagnostic has a stable code (programs branch on it), one sentence in lower case without a full
// stop, the place, and a hint. `Result<T>` is a value or a diagnostic.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace fairlead {

struct Place {
  std::string source;  // a file, an address, a command; empty where there is none
  int line = 0;        // 1-based; 0 unknown
  int column = 0;      // 1-based; 0 unknown
};

struct Diagnostic {
  std::string code;     // "config-unknown-key"
  std::string message;  // "unknown key 'listn'"
  Place place;
  std::string hint;  // "did you mean 'listen'?"
};

template <class T>
using Result = std::expected<T, Diagnostic>;

inline std::unexpected<Diagnostic> fail(std::string code, std::string message,
                                        std::string hint = {}, Place place = {}) {
  return std::unexpected(Diagnostic{.code = std::move(code),
                                    .message = std::move(message),
                                    .place = std::move(place),
                                    .hint = std::move(hint)});
}

// Returns e.g. "fairlead.yaml:3:1: error: unknown key 'listn'  [config-unknown-key]\n  help: ...".
std::string to_text(const Diagnostic& diagnostic);

}  // namespace fairlead

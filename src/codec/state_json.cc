#include "codec/state_json.h"

#include <fmt/format.h>

#include "codec/json.h"
#include "core/snapshot.h"

namespace fairlead {

std::string to_json(const State& state) {
  std::string out = fmt::format("{{\"fairlead_state\":{}", kStateVersion);
  for_each_part(state, [&](const char* name, const auto& part) {
    out += ',';
    json::quote(out, name);
    out += ':';
    json::write(out, part);
  });
  out += '}';
  return out;
}

namespace {

std::unexpected<Diagnostic> bad(std::string message) {
  return fail("state-bad", std::move(message), "start from the snapshot before this one");
}

}  // namespace

Result<State> read_state(std::string_view text) {
  json::od::parser parser;
  const simdjson::padded_string padded(text);
  json::od::document document;
  json::od::object object;
  if (parser.iterate(padded).get(document) || document.get_object().get(object))
    return bad("the snapshot is not JSON");
  int version = 0;
  StateParts parts;
  json::Reading reading;
  for (auto field : object) {
    std::string_view key;
    json::od::value value;
    if (field.unescaped_key().get(key) || field.value().get(value))
      return bad("the snapshot is cut or broken");
    if (key == "fairlead_state") {
      json::read(value, version, reading);
      if (version == kStateVersion) continue;
      return fail("state-version",
                  fmt::format("the snapshot has version {}, this program reads version {}", version,
                              kStateVersion),
                  "use the fairlead that wrote it, or remove it to start from the journal");
    }
    for_each_member(parts, [&](const char* name, auto& part) {
      if (!key.empty() && key == name) {
        key = {};
        json::read(value, part, reading);
      }
    });
    if (!reading.problem.empty()) return bad("snapshot: " + reading.problem);
  }
  if (version == 0) return bad("the snapshot has no version");
  if (parts.devices.size() != parts.fleet.devices.size() ||
      parts.ledger.accounts.size() != parts.ledger.running.size()) {
    return bad("the parts of the snapshot do not fit together");
  }
  return state_of(std::move(parts));
}

}  // namespace fairlead

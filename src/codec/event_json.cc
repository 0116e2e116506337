#include "codec/event_json.h"

#include <fmt/format.h>

#include "codec/json.h"

namespace fairlead {
namespace {

struct Header {
  int fairlead_events = 0;
  bool operator==(const Header&) const = default;
};
BOOST_DESCRIBE_STRUCT(Header, (), (fairlead_events))

std::unexpected<Diagnostic> bad(std::string message) {
  return fail("event-bad", std::move(message), "is it a line of a fairlead event stream?");
}

// Makes `what` the alternative of that name and reads it. Returns false where no alternative has
// it.
bool read_what(std::string_view name, json::od::value value, What& what, json::Reading& reading) {
  bool known = false;
  boost::mp11::mp_for_each<boost::mp11::mp_iota_c<std::variant_size_v<What>>>([&](auto i) {
    if (known || name != kWhatNames[i]) return;
    known = true;
    const json::PathStep step(reading, name);
    json::read(value, what.emplace<i>(), reading);
  });
  return known;
}

}  // namespace

std::string event_header() { return json::to_json(Header{kEventVersion}); }

Result<void> check_event_header(std::string_view line) {
  const auto header = json::from_json<Header>(line);
  if (!header || header->fairlead_events == 0) return bad("the stream has no header line");
  if (header->fairlead_events != kEventVersion) {
    return fail("event-version",
                fmt::format("the stream has version {}, this program reads version {}",
                            header->fairlead_events, kEventVersion),
                "use the bridge that came with this fairlead");
  }
  return {};
}

void write_event(std::string& out, const Event& event) {
  out += '{';
  if (event.seq != 0) out += fmt::format("\"seq\":{},", event.seq);
  out += fmt::format("\"at\":{},", event.at.us);
  json::quote(out, kWhatNames[event.what.index()]);
  out += ':';
  std::visit([&](const auto& what) { json::write(out, what); }, event.what);
  out += '}';
}

std::string to_json(const Event& event) {
  std::string out;
  write_event(out, event);
  return out;
}

Result<Event> read_event(std::string_view line, json::Unknown unknown) {
  static thread_local json::od::parser parser;
  const simdjson::padded_string padded(line);
  json::od::document document;
  json::od::object object;
  if (parser.iterate(padded).get(document) || document.get_object().get(object))
    return bad("not JSON");
  Event event;
  json::Reading reading{.unknown = unknown, .path = {}, .problem = {}};
  bool has_what = false;
  for (auto field : object) {
    std::string_view key;
    json::od::value value;
    if (field.unescaped_key().get(key) || field.value().get(value)) return bad("broken JSON");
    if (key == "seq")
      json::read(value, event.seq, reading);
    else if (key == "at")
      json::read(value, event.at, reading);
    else if (has_what)
      return bad(fmt::format("a second kind '{}' in one event", key.substr(0, 40)));
    else if (read_what(key, value, event.what, reading))
      has_what = true;
    else
      return bad(fmt::format("unknown kind of event '{}'", key.substr(0, 40)));
    if (!reading.problem.empty()) return bad(reading.problem);
  }
  if (!has_what) return bad("the event has no kind");
  if (!document.current_location().error()) return bad("more text after the event");
  return event;
}

}  // namespace fairlead

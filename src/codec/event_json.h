// One event, one line of JSON: {"seq":7,"at":1796025540000000,"job":{…}}.
//
// The same line goes over the pipe from a bridge and into the journal. A stream begins with a
// header line, {"fairlead_events":1}; another version is refused. docs/design/events.md.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "codec/json.h"
#include "model/event.h"

namespace fairlead {

constexpr int kEventVersion = 1;

std::string event_header();  // without a line end

// Fails with event-version, event-bad.
Result<void> check_event_header(std::string_view line);

void write_event(std::string& out, const Event& event);  // without a line end
std::string to_json(const Event& event);

// Fails with event-bad: no JSON, no kind or an unknown one, a member of the wrong type, or one that
// is not known where these are refused.
Result<Event> read_event(std::string_view line, json::Unknown unknown = json::Unknown::skipped);

}  // namespace fairlead

// Every route of the API: what it answers and what may be asked of it. One table is checked against
// each request and printed as the OpenAPI document.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/schema.h"
#include "base/result.h"
#include "io/http.h"

namespace fairlead {

struct RouteParam {
  enum class Kind : uint8_t { text, number, begin, word };
  std::string_view name;
  Kind kind = Kind::text;
  std::string_view meaning;
  std::vector<std::string> (*words)() = nullptr;  // of a word
};

struct Route {
  std::string_view path;  // {label} stands for one part of it
  std::string_view about;
  std::vector<RouteParam> params;
  std::string (*answer)(Components&) = nullptr;  // its schema; nullptr: no JSON
  std::string_view media = "application/json";
  bool of_a_site = true;  // takes ?site=
  std::string_view method = "GET";
  std::string (*body)(Components&) = nullptr;  // the schema of what is posted
  bool body_required = false;
};

std::span<const Route> routes();
const Route* find_route(std::string_view path);  // nullptr: none

// Returns what is wrong with a request's query: an unknown parameter or value, with the one that
// was meant. Codes: parameter-unknown, parameter-bad, number-bad, since-bad.
std::optional<Diagnostic> query_problem(const Route& route, const io::HttpRequest& request);

// The OpenAPI 3.1 document of all routes.
std::string openapi_document(std::string_view version);

}  // namespace fairlead

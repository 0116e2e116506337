#include "api/route_table.h"

#include <gtest/gtest.h>

#include <set>

namespace fairlead {
namespace {

struct QueryRow {
  std::string_view name, path, query;
  std::string_view want;  // the code; empty: it may be asked
  std::string_view want_hint = "";
};

TEST(Routes, RefuseWhatTheyDoNotKnow) {
  const QueryRow rows[] = {
      {"nothing asked", "/v1/report", "", ""},
      {"a site", "/v1/report", "site=alpha", ""},
      {"a duration", "/v1/report", "since=7d", ""},
      {"a day", "/v1/report", "since=2026-11-30", ""},
      {"no time", "/v1/ledger", "since=nonsense", "since-bad",
       "7d, 2026-01-31 or 2026-01-31T08:00:00Z"},
      {"a letter off", "/v1/report", "sicne=7d", "parameter-unknown", "did you mean 'since'?"},
      {"another route's", "/v1/queue", "since=7d", "parameter-unknown", "known: site, limit"},
      {"a second one that is wrong", "/v1/queue", "limit=5&lmit=6", "parameter-unknown",
       "did you mean 'limit'?"},
      {"a number", "/v1/queue", "limit=5", ""},
      {"no number", "/v1/queue", "limit=many", "number-bad"},
      {"a number below zero", "/v1/queue", "limit=-1", "number-bad"},
      {"a state", "/v1/workloads", "state=running&team=a%20b", ""},
      {"a state that is none", "/v1/workloads", "state=runing", "parameter-bad",
       "did you mean 'running'?"},
      {"an escaped name", "/v1/workloads", "st%61te=running", ""},
      {"one that takes nothing", "/healthz", "x", "parameter-unknown", "it has none"},
      {"of one workload", "/v1/workloads/77+1/explain", "all=1", "parameter-unknown"},
  };
  for (const QueryRow& row : rows) {
    SCOPED_TRACE(row.name);
    const Route* route = find_route(row.path);
    ASSERT_NE(route, nullptr);
    io::HttpRequest request;
    request.query = row.query;
    const auto problem = query_problem(*route, request);
    EXPECT_EQ(problem ? problem->code : "", row.want);
    if (problem && !row.want_hint.empty()) EXPECT_EQ(problem->hint, row.want_hint);
  }
}

TEST(Routes, AreFoundByTheirParts) {
  EXPECT_EQ(find_route("/v1/workloads/4242")->path, "/v1/workloads/{label}");
  EXPECT_EQ(find_route("/v1/workloads/4242/explain")->path, "/v1/workloads/{label}/explain");
  for (const char* path : {"/v1/workloads/", "/v1/workloads/a/b", "/v1/nothing", "/"})
    EXPECT_EQ(find_route(path), nullptr) << path;
}

TEST(OpenApi, IsJsonWithEveryRouteAndReference) {
  const std::string document = openapi_document("1.2.3");
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  ASSERT_FALSE(parser.parse(simdjson::padded_string(document)).get(root)) << document;
  for (const Route& route : routes()) {
    simdjson::dom::element found;
    EXPECT_FALSE(root["paths"].at_key(route.path).get(found)) << route.path;
  }
  const std::string_view prefix = "\"#/components/schemas/";
  for (size_t at = 0; (at = document.find(prefix, at)) != document.npos;) {
    at += prefix.size();
    const std::string name = document.substr(at, document.find('"', at) - at);
    simdjson::dom::element found;
    EXPECT_FALSE(root["components"]["schemas"].at_key(name).get(found)) << name;
  }
}

enum class Colour : uint8_t { red, blue };
BOOST_DESCRIBE_ENUM(Colour, red, blue)
struct Wheel {
  int64_t size = 0;
  bool operator==(const Wheel&) const = default;
};
BOOST_DESCRIBE_STRUCT(Wheel, (), (size))
struct Cart {
  std::string klass;
  Colour colour = Colour::red;
  std::vector<Wheel> wheels;
  Instant at;
  bool operator==(const Cart&) const = default;
};
BOOST_DESCRIBE_STRUCT(Cart, (), (klass, colour, wheels, at))

TEST(OpenApi, ASchemaSaysWhatTheWriterWrites) {
  Components components;
  EXPECT_EQ(schema_of<Cart>(components), R"({"$ref":"#/components/schemas/Cart"})");
  EXPECT_EQ(components["Cart"],
            R"({"type":"object","properties":{"class":{"type":"string"},)"
            R"("colour":{"type":"string","enum":["red","blue"]},)"
            R"("wheels":{"type":"array","items":{"$ref":"#/components/schemas/Wheel"}},)"
            R"("at":{"type":["string","null"],"format":"date-time"}},)"
            R"("required":["class","colour","wheels","at"]})");
  EXPECT_EQ(components["Wheel"],
            R"({"type":"object","properties":{"size":{"type":"integer"}},"required":["size"]})");
}

TEST(OpenApi, NothingOfAQuestionIsRequired) {
  Components components;
  EXPECT_EQ((schema_of<Cart, SchemaOf::question>(components)),
            R"({"$ref":"#/components/schemas/CartAsked"})");
  EXPECT_EQ(components["CartAsked"],
            R"({"type":"object","properties":{"class":{"type":"string"},)"
            R"("colour":{"type":"string","enum":["red","blue"]},)"
            R"("wheels":{"type":"array","items":{"$ref":"#/components/schemas/WheelAsked"}},)"
            R"("at":{"type":"integer","description":"microseconds since 1970"}},)"
            R"("additionalProperties":false})");
}

}  // namespace
}  // namespace fairlead

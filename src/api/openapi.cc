#include "api/answers.h"
#include "api/route_table.h"

namespace fairlead {
namespace {

std::string in_quotes(std::string_view text) {
  std::string out;
  json::quote(out, text);
  return out;
}

std::string parameter(std::string_view name, std::string_view in, std::string_view about,
                      const std::string& schema) {
  return fmt::format(R"({{"name":{},"in":{},"required":{},"description":{},"schema":{}}})",
                     in_quotes(name), in_quotes(in), in == "path" ? "true" : "false",
                     in_quotes(about), schema);
}

std::string schema_of_param(const RouteParam& param) {
  if (param.kind == RouteParam::Kind::number) return R"({"type":"integer","minimum":0})";
  std::string schema = R"({"type":"string")";
  if (param.kind == RouteParam::Kind::word) {
    std::string words;
    for (const std::string& word : param.words())
      words += (words.empty() ? "" : ",") + in_quotes(word);
    schema += R"(,"enum":[)" + words + "]";
  }
  return schema + "}";
}

std::string parameters_of(const Route& route) {
  std::string out;
  const auto add = [&](const std::string& one) { out += (out.empty() ? "" : ",") + one; };
  const std::string text = R"({"type":"string"})";
  if (const size_t open = route.path.find('{'); open != route.path.npos) {
    const size_t close = route.path.find('}');
    add(parameter(route.path.substr(open + 1, close - open - 1), "path",
                  "as the scheduler names it", text));
  }
  if (route.of_a_site) add(parameter("site", "query", "which of several sites", text));
  for (const RouteParam& param : route.params)
    add(parameter(param.name, "query", param.meaning, schema_of_param(param)));
  return out;
}

std::string path_of(const Route& route, Components& components) {
  const std::string schema = route.answer != nullptr             ? route.answer(components)
                             : route.media == "application/json" ? R"({"type":"object"})"
                                                                 : R"({"type":"string"})";
  const std::string problem = schema_of<Problem>(components);
  const bool posts = route.method == "POST";
  const std::string body =
      route.body == nullptr
          ? ""
          : fmt::format(
                R"("requestBody":{{"required":{},"content":{{"application/json":{{"schema":{}}}}}}},)",
                route.body_required, route.body(components));
  return fmt::format(
      R"({}:{{"{}":{{"summary":{},"parameters":[{}],{}"responses":{{)"
      R"("200":{{"description":{},"content":{{{}:{{"schema":{}}}}}}},)"
      R"("default":{{"description":"what is wrong","content":{{"application/problem+json":)"
      R"({{"schema":{}}}}}}}}}}}}})",
      in_quotes(route.path), posts ? "post" : "get", in_quotes(route.about), parameters_of(route),
      body, in_quotes(route.about), in_quotes(route.media), schema, problem);
}

}  // namespace

std::string openapi_document(std::string_view version) {
  Components components;
  std::string paths, schemas;
  for (const Route& route : routes())
    paths += (paths.empty() ? "" : ",") + path_of(route, components);
  for (const auto& [name, schema] : components)
    schemas += (schemas.empty() ? "" : ",") + in_quotes(name) + ":" + schema;
  return fmt::format(R"({{"openapi":"3.1.0","info":{{"title":"Fairlead","version":{}}},)"
                     R"("paths":{{{}}},"components":{{"schemas":{{{}}}}}}})",
                     in_quotes(version), paths, schemas);
}

}  // namespace fairlead

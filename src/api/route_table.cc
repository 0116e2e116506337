#include "api/route_table.h"

#include <algorithm>
#include <charconv>

#include "api/answers.h"
#include "base/words.h"
#include "explain/blocker.h"
#include "io/url.h"
#include "views/comparison.h"
#include "views/fabric_log.h"
#include "views/fabric_view.h"
#include "views/ledger_view.h"
#include "views/placement_view.h"
#include "views/teams_view.h"
#include "views/window.h"
#include "views/workloads_view.h"

namespace fairlead {
namespace {

using Kind = RouteParam::Kind;

template <class Enum>
std::vector<std::string> words_of() {
  std::vector<std::string> words;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<Enum>>(
      [&](auto enumerator) { words.emplace_back(enumerator.name); });
  return words;
}
std::vector<std::string> job_states() { return words_of<JobState>(); }
std::vector<std::string> suggestion_kinds() { return words_of<SuggestionKind>(); }

template <class T>
std::string answer(Components& components) {
  return schema_of<T>(components);
}

std::string asked_job(Components& components) {
  return R"({"type":"object","properties":{"job":)" +
         schema_of<Job, SchemaOf::question>(components) + R"(},"required":["job"]})";
}

constexpr std::string_view kBegin = "from then on: a duration before now, a day or an instant";

const std::vector<Route>& table() {
  static const std::vector<Route> kTable = {
      {"/v1/sites",
       "the sites, their stage, and what is seen of their sources",
       {},
       answer<SiteList>,
       "application/json",
       false},
      {"/v1/report",
       "requested against useful, idle holds, waits, fragmentation",
       {{"since", Kind::begin, kBegin},
        {"waiting", Kind::number, "so many waiting workloads at most"}},
       answer<Report>},
      {"/v1/queue",
       "waiting work in order, with the codes of its blockers",
       {{"limit", Kind::number, "so many at most"}},
       answer<Queue>},
      {"/v1/teams",
       "the tree of teams: own, used, headroom, waiting; what is nobody's or misspelt",
       {},
       answer<TeamList>},
      {"/v1/suggestions",
       "what the planner would do now, and how what it suggested compares with what happened",
       {{"since", Kind::begin, kBegin},
        {"kind", Kind::word, "suggestions of this kind alone", suggestion_kinds},
        {"team", Kind::text, "of this team alone"},
        {"limit", Kind::number, "so many at most"},
        {"cursor", Kind::number, "next_cursor of the page before"}},
       answer<Comparison>},
      {"/v1/simulate",
       "what would become of a job if it were submitted now: {\"job\":{…}}, as events state one",
       {},
       answer<Explanation>,
       "application/json",
       true,
       "POST",
       asked_job,
       true},
      {"/v1/place",
       "where a job would stand if it started now: {\"job\":{…}}, or nothing and a workload that "
       "waits",
       {{"workload", Kind::text, "one that waits, instead of a job"}},
       answer<PlacementTold>,
       "application/json",
       true,
       "POST",
       asked_job},
      {"/v1/workloads",
       "workloads that the scheduler lists, page by page",
       {{"state", Kind::word, "in this state alone", job_states},
        {"team", Kind::text, "of this team alone"},
        {"user", Kind::text, "of this user alone"},
        {"limit", Kind::number, "so many at most"},
        {"cursor", Kind::number, "next_cursor of the page before"}},
       answer<WorkloadList>},
      {"/v1/workloads/{label}",
       "all blockers of a waiting workload, or what it holds",
       {},
       answer<Explanation>},
      {"/v1/workloads/{label}/explain", "the same", {}, answer<Explanation>},
      {"/v1/fabric", "nodes, GPUs by column, switches", {}, answer<Fabric>},
      {"/v1/fabric/diff",
       "what of the facts about nodes changed between two times",
       {{"from", Kind::begin, "the earlier time"},
        {"to", Kind::begin, "the later time; none: now"}},
       answer<FabricDiff>},
      {"/v1/ledger",
       "GPU-milliseconds by hour and account",
       {{"since", Kind::begin, kBegin}},
       answer<LedgerView>},
      {"/v1/ledger/verify",
       "the proof that the columns add up to the hardware",
       {},
       answer<LedgerCheck>},
      {"/v1/decisions",
       "what the engine concluded, the newest first",
       {{"limit", Kind::number, "so many at most"}},
       answer<DecisionList>},
      {"/v1/events",
       "server-sent events: decision, poll; resumable by Last-Event-ID",
       {},
       nullptr,
       "text/event-stream",
       false},
      {"/v1/openapi.json", "this document", {}, nullptr, "application/json", false},
      {"/healthz", "the process lives", {}, nullptr, "text/plain", false},
      {"/readyz",
       "the scheduler is seen and the journal is written",
       {},
       nullptr,
       "text/plain",
       false},
      {"/metrics", "Prometheus's exposition", {}, nullptr, "text/plain", false},
  };
  return kTable;
}

bool matches(std::string_view route, std::string_view path) {
  const size_t open = route.find('{');
  if (open == route.npos) return route == path;
  const std::string_view before = route.substr(0, open), after = route.substr(route.find('}') + 1);
  if (!path.starts_with(before) || !path.ends_with(after)) return false;
  if (path.size() <= before.size() + after.size()) return false;
  const auto part = path.substr(before.size(), path.size() - before.size() - after.size());
  return !part.contains('/');
}

struct Asked {
  std::string name, value;
};

std::vector<Asked> asked_of(std::string_view query) {
  std::vector<Asked> list;
  while (!query.empty()) {
    const size_t end = std::min(query.find('&'), query.size());
    const std::string_view item = query.substr(0, end);
    const size_t equals = std::min(item.find('='), item.size());
    if (!item.empty())
      list.push_back({io::form_decode(item.substr(0, equals)),
                      io::form_decode(item.substr(std::min(equals + 1, item.size())))});
    query.remove_prefix(std::min(end + 1, query.size()));
  }
  return list;
}

Diagnostic wrong(std::string code, std::string message, std::string hint) {
  return {
      .code = std::move(code), .message = std::move(message), .place = {}, .hint = std::move(hint)};
}

std::optional<Diagnostic> value_problem(const RouteParam& param, const std::string& value) {
  switch (param.kind) {
    case Kind::text:
      return {};
    case Kind::number: {
      uint64_t n = 0;
      const char* last = value.data() + value.size();
      const auto [end, error] = std::from_chars(value.data(), last, n);
      if (error == std::errc{} && end == last) return {};
      return wrong("number-bad", fmt::format("{} is a whole number from 0", param.name), "");
    }
    case Kind::begin: {
      const auto at = since_of(value, instant_of_seconds(2'000'000'000));
      if (at) return {};
      return wrong("since-bad", fmt::format("{}: {}", param.name, at.error().message),
                   at.error().hint);
    }
    case Kind::word: {
      const std::vector<std::string> words = param.words();
      if (value.empty() || std::ranges::find(words, value) != words.end()) return {};
      return wrong("parameter-bad",
                   fmt::format("{} cannot be '{}'", param.name, value.substr(0, 80)),
                   hint_for_unknown(value, words));
    }
  }
  return {};
}

}  // namespace

std::span<const Route> routes() { return table(); }

const Route* find_route(std::string_view path) {
  const auto it =
      std::ranges::find_if(table(), [&](const Route& r) { return matches(r.path, path); });
  return it == table().end() ? nullptr : &*it;
}

std::optional<Diagnostic> query_problem(const Route& route, const io::HttpRequest& request) {
  std::vector<std::string> names;
  if (route.of_a_site) names.emplace_back("site");
  for (const RouteParam& param : route.params) names.emplace_back(param.name);
  for (const Asked& asked : asked_of(request.query)) {
    if (std::ranges::find(names, asked.name) == names.end()) {
      return wrong("parameter-unknown",
                   fmt::format("{} has no parameter '{}'", route.path, asked.name.substr(0, 80)),
                   names.empty() ? "it has none" : hint_for_unknown(asked.name, names));
    }
    for (const RouteParam& param : route.params) {
      if (param.name != asked.name) continue;
      if (auto problem = value_problem(param, asked.value)) return problem;
    }
  }
  return {};
}

}  // namespace fairlead

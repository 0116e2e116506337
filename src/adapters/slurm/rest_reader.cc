#include "adapters/slurm/rest_reader.h"

#include <fstream>
#include <iterator>

#include "adapters/slurm/words.h"

namespace fairlead::slurm {
namespace {

// v0.0.42 has one shape in 24.11 and 26.05; the rest in the order of what they tell.
constexpr const char* kVersions[] = {"v0.0.42", "v0.0.43", "v0.0.44", "v0.0.45",
                                     "v0.0.41", "v0.0.40", "v0.0.39", "v0.0.38"};

constexpr Duration kJobsTimeout = seconds(60);  // measured: up to 12 s at 10,000 jobs

bool is_old(const std::string& version) { return version < "v0.0.39"; }

template <class T>
bool take(Parsed<T> parsed, std::vector<T>& to, int64_t& unreadable) {
  to = std::move(parsed.records);
  unreadable = parsed.unreadable;
  return true;
}

// slurmrestd answers some failures with status 200 or 500 and says what in errors[].
std::string first_error(Json document) {
  simdjson::dom::array list;
  if (document["errors"].get_array().get(list) != simdjson::SUCCESS) return {};
  for (const Json item : list) {
    for (const char* key : {"description", "error"}) {
      if (std::string what = text(item, key); !what.empty()) return what;
    }
  }
  return {};
}

bool says_no_change(Json document) {
  simdjson::dom::array list;
  if (document["warnings"].get_array().get(list) != simdjson::SUCCESS) return false;
  for (const Json item : list) {
    if (text(item, "description").find("changes since update_time") != std::string::npos)
      return true;
  }
  return false;
}

}  // namespace

void RestReader::forget() {
  version_.clear();
  jobs_updated_ = 0;
  if (options_.beside) options_.beside->forget();
}

Result<HttpAnswer> RestReader::ask(const std::string& path) {
  HttpRequest request{.url = options_.url, .path = path};
  // A large table takes it long. What hangs shows sooner: each look asks for /diag before the jobs.
  if (path.find("/jobs") != std::string::npos) request.timeout = kJobsTimeout;
  if (!options_.token_file.empty()) {
    std::ifstream file(options_.token_file);
    std::string token(std::istreambuf_iterator<char>(file), {});
    token = std::string(trim(token));
    if (token.empty())
      return fail("slurm-setup", "no token in '" + options_.token_file + "'",
                  "write one with `scontrol token`, renewed before it ends");
    if (token.starts_with("SLURM_JWT=")) token.erase(0, 10);
    request.headers = {{"X-SLURM-USER-NAME", options_.user}, {"X-SLURM-USER-TOKEN", token}};
  }
  auto answer = options_.get(request);
  if (!answer)
    return fail(answer.error().code == "http-url" ? "slurm-setup" : "slurm-unreachable",
                answer.error().message, answer.error().hint);
  if (answer->status == 401 || answer->status == 403) {
    return fail("slurm-setup",
                "slurmrestd does not accept us (" + std::to_string(answer->status) + ")",
                "over its unix socket run as the same user; over TCP give a token file that is not "
                "outdated, and its user");
  }
  return answer;
}

Result<void> RestReader::find_version() {
  for (const char* version : kVersions) {
    const auto answer =
        ask(std::string("/slurm/") + version + (is_old(version) ? "/ping" : "/ping/"));
    if (!answer) return std::unexpected(answer.error());
    if (answer->status == 404) continue;
    version_ = version;
    return {};
  }
  return fail("slurm-setup", "slurmrestd speaks none of v0.0.38 to v0.0.45",
              "start it with -d v0.0.42, or with -s openapi/v0.0.38,openapi/dbv0.0.38 on 22.05");
}

Result<std::optional<Json>> RestReader::get(const std::string& api, const std::string& path) {
  if (version_.empty()) {
    if (auto found = find_version(); !found) return std::unexpected(found.error());
  }
  const size_t question = path.find('?');
  std::string full = "/" + api + "/" + version_ + "/" + path.substr(0, question);
  if (!is_old(version_)) full += '/';
  if (question != std::string::npos) full += path.substr(question);
  const auto answer = ask(full);
  if (!answer) return std::unexpected(answer.error());
  if (answer->status == 304 || (answer->status == 200 && answer->body.empty())) return std::nullopt;
  Json document;
  if (parser_.parse(answer->body).get(document) != simdjson::SUCCESS) {
    return fail("slurm-bad-answer",
                full + ": status " + std::to_string(answer->status) + " and no JSON");
  }
  if (const std::string what = first_error(document); !what.empty() || answer->status != 200) {
    const bool refused =
        what.find("denied") != std::string::npos || answer->status == 404 || api == "slurmdb";
    return fail(refused ? "slurm-refused" : "slurm-unreachable",
                full + ": " + (what.empty() ? "status " + std::to_string(answer->status) : what),
                "check with `scontrol ping` that slurmctld runs");
  }
  if (says_no_change(document)) return std::nullopt;
  return document;
}

Result<bool> RestReader::read(Part part, SlurmFacts& facts) {
  switch (part) {
    case Part::config:
      return read_config(facts);
    case Part::jobs:
      return read_jobs(facts);
    case Part::rules:
      return read_rules(facts);
    case Part::steps:
    case Part::topology:
      return read_beside(part, facts);
    default:
      break;
  }
  const char* const path = part == Part::nodes          ? "nodes"
                           : part == Part::partitions   ? "partitions"
                           : part == Part::reservations ? "reservations"
                           : part == Part::licences     ? "licenses"
                                                        : "diag";
  const auto document = get("slurm", path);
  if (!document) return std::unexpected(document.error());
  if (!*document) return false;
  switch (part) {
    case Part::nodes:
      return take(nodes_of(**document), facts.nodes, facts.unreadable[part]);
    case Part::partitions:
      return take(partitions_of(**document), facts.partitions, facts.unreadable[part]);
    case Part::reservations:
      return take(reservations_of(**document), facts.reservations, facts.unreadable[part]);
    case Part::licences:
      return take(licences_of(**document), facts.licences, facts.unreadable[part]);
    default:
      facts.scheduler.statistics = statistics_of(**document);
      return true;
  }
}

// Statistics begin anew when the controller does (and once a day, which costs one more full poll).
Result<bool> RestReader::read_config(SlurmFacts& facts) {
  const auto document = get("slurm", "diag");
  if (!document) return std::unexpected(document.error());
  if (!*document) return false;
  const Json d = **document;
  for (const char* key : {"meta.slurm.release", "meta.Slurm.release"}) {
    if (std::string release = text(d, key); !release.empty())
      facts.scheduler.release = std::move(release);
  }
  if (std::string cluster = text(d, "meta.slurm.cluster"); !cluster.empty())
    facts.scheduler.cluster = std::move(cluster);
  facts.start_mark = std::to_string(number(d, "statistics.req_time_start"));
  read_enforcement(facts);
  return true;
}

// AccountingStorageEnforce and what else of the configuration only the commands tell.
void RestReader::read_enforcement(SlurmFacts& facts) {
  beside_is_same_ = false;
  if (!options_.beside) return;
  SlurmFacts told;
  if (!options_.beside->read(Part::config, told)) return;
  Scheduler& ours = facts.scheduler;
  // The commands may be set up for another cluster than the address that we were given.
  if (told.scheduler.cluster.empty() || ours.cluster != told.scheduler.cluster) return;
  beside_is_same_ = true;
  ours.enforces_limits = told.scheduler.enforces_limits;
  ours.enforces_qos = told.scheduler.enforces_qos;
  ours.enforces_associations = told.scheduler.enforces_associations;
  ours.enforces_safe = told.scheduler.enforces_safe;
  ours.usage_half_life_s = told.scheduler.usage_half_life_s;
  ours.priority_weights = std::move(told.scheduler.priority_weights);
  ours.parameters = std::move(told.scheduler.parameters);
}

Result<bool> RestReader::read_beside(Part part, SlurmFacts& facts) {
  if (!beside_is_same_) read_enforcement(facts);  // 22.05 names its cluster with the jobs
  if (!beside_is_same_) return fail("slurm-refused", "slurmrestd does not tell it");
  auto told = options_.beside->read(part, facts);
  if (!told) return fail("slurm-refused", told.error().message, told.error().hint);
  return told;
}

// update_time wants the controller's clock: what it said just before the answer.
Result<bool> RestReader::read_jobs(SlurmFacts& facts) {
  const auto diag = get("slurm", "diag");
  if (!diag) return std::unexpected(diag.error());
  const int64_t now = *diag ? number(**diag, "statistics.req_time") : 0;
  const auto document = get(
      "slurm", jobs_updated_ == 0 ? "jobs" : "jobs?update_time=" + std::to_string(jobs_updated_));
  if (!document) return std::unexpected(document.error());
  if (!*document) return false;
  jobs_updated_ = now;
  if (facts.scheduler.cluster.empty()) {
    simdjson::dom::array list;
    if ((**document)["jobs"].get_array().get(list) == simdjson::SUCCESS && list.size() > 0)
      facts.scheduler.cluster = text(list.at(0).value(), "cluster");
  }
  return take(jobs_of(**document), facts.jobs, facts.unreadable[Part::jobs]);
}

Result<bool> RestReader::read_rules(SlurmFacts& facts) {
  const auto qos = get("slurmdb", "qos");
  if (!qos) return std::unexpected(qos.error());
  int64_t unreadable = 0;
  if (*qos) take(qos_of(**qos), facts.qos, unreadable);
  facts.unreadable[Part::rules] = unreadable;
  const auto associations = get("slurmdb", "associations");
  if (!associations) return std::unexpected(associations.error());
  if (*associations) take(associations_of(**associations), facts.associations, unreadable);
  facts.unreadable[Part::rules] += unreadable;
  if (!beside_is_same_) read_enforcement(facts);
  if (beside_is_same_) {
    facts.note.clear();
  } else {  // a limit that somebody set is taken to hold
    facts.scheduler.enforces_limits = facts.scheduler.enforces_qos = !facts.associations.empty();
    facts.note =
        "which limits are enforced is not told by slurmrestd: all that are set are taken to be";
  }
  if (is_old(version_)) return true;
  if (const auto shares = get("slurm", "shares"); shares && *shares)
    add_shares(facts.associations, **shares);
  return true;
}

}  // namespace fairlead::slurm

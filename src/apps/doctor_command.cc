// fairlead doctor: can we read what we need, and may we write nothing? One line each, with the
// cure.
#include <fmt/format.h>
#include <unistd.h>

#include "api/answers.h"
#include "apps/commands.h"
#include "base/words.h"

namespace fairlead {
namespace {

enum class Finding : uint8_t { good, note, bad };
BOOST_DESCRIBE_ENUM(Finding, good, note, bad)

struct Check {
  std::string what;
  Finding finding = Finding::good;
  std::string says, cure;
  bool operator==(const Check&) const = default;
};
BOOST_DESCRIBE_STRUCT(Check, (), (what, finding, says, cure))

struct Checkup {
  std::string apiVersion = "fairlead/v1", kind = "Checkup";
  std::vector<Check> checks;
  bool operator==(const Checkup&) const = default;
};
BOOST_DESCRIBE_STRUCT(Checkup, (), (apiVersion, kind, checks))

// Seconds. The engine's grace of a source; accounting is asked every two minutes only.
int64_t lag_max(Source source) { return source == Source::accounting ? 300 : 60; }

void check_source(const SourceRow& source, const SiteRow& site, Checkup& up) {
  const std::string what = fmt::format("{}: {}", site.site, enum_name(source.source));
  if (!source.known) {
    if (source.source == Source::telemetry)
      up.checks.push_back({what, Finding::note, "none is configured: nothing can be measured",
                           "telemetry of the site in fairlead.yaml"});
    return;
  }
  const int64_t lag = whole_seconds(site.as_of - source.last_ok);
  const bool late = lag > lag_max(source.source);
  const std::string seen = source.last_ok.known()
                               ? "seen " + age(source.last_ok, site.as_of) + " ago"
                               : "never seen well";
  if (!source.ok)
    up.checks.push_back({what, Finding::bad, seen + ": " + source.detail, "see what it says"});
  else
    up.checks.push_back({what, late ? Finding::bad : Finding::good,
                         source.detail.empty() ? seen : seen + "; " + source.detail,
                         late ? "is the source slow, or the daemon's machine busy?" : ""});
  if (source.unreadable > 0)
    up.checks.push_back({what, Finding::bad, plural(source.unreadable, "record") + " unreadable",
                         "tell us, with the release"});
}

void check_served_site(const SiteRow& site, Checkup& up) {
  for (const SourceRow& source : site.sources) check_source(source, site, up);
  const std::string what = site.site + ": store";
  if (!site.journal_problem.empty())
    up.checks.push_back({what, Finding::bad, site.journal_problem, "make room, or mend the disk"});
  else if (site.store.empty())
    up.checks.push_back({what, Finding::note, "none: the ledger begins anew with each start",
                         "serve --store sqlite:/path"});
  else
    up.checks.push_back({what, Finding::good, "writes " + site.store, ""});
  const std::string whose = site.site + ": organisation";
  if (!site.organisation_problem.empty())
    up.checks.push_back({whose, Finding::bad, site.organisation_problem,
                         "fairlead policy check; what was in force before stays so"});
  else if (!site.organisation.empty())
    up.checks.push_back({whose, Finding::good, site.organisation, ""});
  else
    up.checks.push_back(
        {whose, Finding::note, "none: a team is an account, a class a QOS",
         "organisation: in fairlead.yaml; `fairlead policy import slurm` begins one"});
}

// What the daemon says of itself, where one runs.
void check_daemon(Program& p, Checkup& up) {
  Asker asker(p.ask);
  const auto server = asker.server_address();
  if (!server) {
    up.checks.push_back({"daemon", Finding::note,
                         "none runs here: commands look themselves, and no ledger is kept",
                         "fairlead serve"});
    return;
  }
  const auto body = asker.fetch(*server, "/v1/sites");
  const auto list = body ? json::from_json<SiteList>(*body) : std::unexpected(body.error());
  if (!list) {
    up.checks.push_back({"daemon", Finding::bad, list.error().message, list.error().hint});
    return;
  }
  const bool same = list->version == p.version;
  up.checks.push_back({"daemon", same ? Finding::good : Finding::note,
                       fmt::format("fairlead {} answers on {}, up {}", list->version, *server,
                                   age(list->started, list->now)),
                       same ? "" : "this program is " + p.version + ": install one of the two"});
  for (const SiteRow& site : list->sites) check_served_site(site, up);
}

void check_scheduler(const State& s, Checkup& up) {
  up.checks.push_back(
      {"scheduler", Finding::good,
       fmt::format("Slurm {} of cluster {}: {}, {}, {}", s.scheduler.release, s.scheduler.cluster,
                   plural(static_cast<int64_t>(s.fleet.nodes().size()), "node"),
                   plural(s.fleet.present_devices(), "GPU"),
                   plural(static_cast<int64_t>(s.workloads.size()), "job")),
       ""});
  const SourceState& source = s.source(Source::scheduler);
  if (source.unreadable > 0)
    up.checks.push_back({"records", Finding::bad,
                         fmt::format("{} could not be read", source.unreadable),
                         "tell us, with the release"});
  if (!source.detail.empty())
    up.checks.push_back({"refused", Finding::note, source.detail, "a right to read it"});
  const bool limits = !s.associations.empty();
  up.checks.push_back(
      {"accounts", limits ? Finding::good : Finding::note,
       limits ? fmt::format("{}, {}",
                            plural(static_cast<int64_t>(s.associations.size()), "association"),
                            fmt::format("{} QOS", s.qos.size()))
              : "no associations: limits of accounts cannot be explained",
       limits ? "" : "slurmdbd, or a right to see associations (PrivateData)"});
  up.checks.push_back({"topology", s.fleet.switches().empty() ? Finding::note : Finding::good,
                       s.fleet.switches().empty()
                           ? "none: the fleet is one flat leaf"
                           : plural(static_cast<int64_t>(s.fleet.switches().size()), "switch"),
                       s.fleet.switches().empty() ? "topology.conf" : ""});
  int64_t without = 0;
  for (const auto& [id, w] : s.workloads) without += w.unplaced_milli != 0 ? 1 : 0;
  if (without > 0)
    up.checks.push_back({"placement", Finding::bad,
                         fmt::format("GPUs are held on nodes that nobody states, by {}",
                                     plural(without, "running job")),
                         "check slurm.conf"});
}

void check_telemetry(const State& s, const SiteConfig& c, Checkup& up) {
  if (!c.telemetry.any()) {
    const auto is_daemons = [](const Check& check) { return check.what.ends_with(": telemetry"); };
    if (std::ranges::any_of(up.checks, is_daemons)) return;  // it looks where we do not
    up.checks.push_back({"telemetry", Finding::note,
                         "none is configured: what is held cannot be measured",
                         "--prometheus http://host:9090"});
    return;
  }
  const SourceState& source = s.source(Source::telemetry);
  int64_t looked = 0;
  for (DeviceIndex i = 0; i < s.devices.size(); ++i)
    looked += s.fleet.device(i).present && s.devices[i].activity.look != Look::unknown ? 1 : 0;
  if (!source.ok) {
    up.checks.push_back({"telemetry", Finding::bad, source.detail,
                         "is it the address of a Prometheus that scrapes the GPU exporters?"});
  } else {
    up.checks.push_back(
        {"telemetry", looked == s.fleet.present_devices() ? Finding::good : Finding::note,
         fmt::format("{} of {} GPUs have a fresh sample{}", looked, s.fleet.present_devices(),
                     source.detail.empty() ? "" : "; " + source.detail),
         looked == s.fleet.present_devices() ? "" : "an exporter on every node with GPUs"});
  }
  if (s.samples_unmatched > 0)
    up.checks.push_back(
        {"join", Finding::note,
         fmt::format("of GPUs that no node states: {}", plural(s.samples_unmatched, "sample")),
         "names of nodes and exporters"});
}

int doctor(Program& p) {
  Checkup up;
  check_daemon(p, up);
  AskOptions local = p.ask;
  local.local = true;
  const auto config = look_config(local);
  if (!config) return complain(config.error());
  const auto command = slurm_command(config->sites[0].slurm, false);
  if (!command) {
    up.checks.push_back({"bridge", Finding::bad, command.error().message, command.error().hint});
  } else {
    up.checks.push_back(
        {"reads by", Finding::good, fmt::format("{}", fmt::join(*command, " ")), ""});
    const auto look = LocalLook::take(local);
    if (!look) {
      up.checks.push_back({"scheduler", Finding::bad, look.error().message,
                           "is slurmctld up, munge running, slurm.conf readable?"});
    } else {
      check_scheduler((*look)->engine().state(), up);
      check_telemetry((*look)->engine().state(), config->sites[0], up);
    }
  }
  up.checks.push_back({"stage", Finding::good,
                       "observe, or suggest: no code of this version writes to a scheduler", ""});
  if (::geteuid() == 0)
    up.checks.push_back(
        {"user", Finding::note, "runs as root, and needs no right of root", "an ordinary user"});
  const auto table = [](const Checkup& c) {
    Table t{.columns = {{"check"}, {"finding"}, {"says"}, {"cure"}}, .rows = {}};
    for (const Check& k : c.checks)
      t.rows.push_back({k.what, enum_name(k.finding), k.says, k.cure});
    return t;
  };
  const int code = print_view(
      up, p.output,
      [&](const Checkup& c, const TextOptions& t) {
        return to_text(table(c), {.headers = t.headers});
      },
      table, [](Checkup& c) { return &c.checks; });
  if (code != kExitGood) return code;
  const bool bad =
      std::ranges::any_of(up.checks, [](const Check& c) { return c.finding == Finding::bad; });
  return bad ? kExitFound : kExitGood;
}

}  // namespace

void add_doctor_command(Program& p) {
  CLI::App* c = p.app.add_subcommand("doctor",
                                     "can I read what I need, may I write only what my stage "
                                     "allows: one line each, with the cure");
  c->footer(
      "examples:\n  fairlead doctor\n  fairlead doctor --prometheus http://127.0.0.1:9090 -o json");
  c->add_option("--server", p.ask.server,
                "the daemon: unix:/path or http://host:port (FAIRLEAD_SERVER)");
  add_look_options(*c, p);
  add_output_options(*c, p);
  c->callback([&p] { p.run = [&p] { return doctor(p); }; });
}

}  // namespace fairlead

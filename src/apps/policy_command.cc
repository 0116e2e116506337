// fairlead policy: the organisation files, checked, laid out, explained. No daemon is asked.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "apps/commands.h"
#include "base/nearest.h"
#include "io/file.h"
#include "lang/units.h"
#include "policy/calendar.h"
#include "policy/check.h"
#include "policy/layout.h"
#include "policy/parser.h"
#include "policy/team_view.h"
#include "present/table.h"

namespace fairlead {
namespace {

namespace fs = std::filesystem;
using policy::Checked;

struct PolicyArguments {
  std::vector<std::string> paths, fleet, holds;
  std::string team, at;
  bool strict = false;      // warnings count
  bool only_check = false;  // fmt --check
};

struct PolicyCheck {
  std::string apiVersion = "fairlead/v1", kind = "PolicyCheck";
  std::string organisation, version, digest;
  int64_t teams = 0, classes = 0, devices = 0, tests = 0, errors = 0, warnings = 0;
  std::vector<lang::PlacedDiagnostic> diagnostics;
  bool operator==(const PolicyCheck&) const = default;
};
BOOST_DESCRIBE_STRUCT(PolicyCheck, (),
                      (apiVersion, kind, organisation, version, digest, teams, classes, devices,
                       tests, errors, warnings, diagnostics))

Diagnostic problem(std::string code, std::string message, std::string hint) {
  return {
      .code = std::move(code), .message = std::move(message), .place = {}, .hint = std::move(hint)};
}

// A folder stands for the .policy files in it, by name.
Result<std::vector<std::string>> files_of(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    std::vector<std::string> inside;
    for (const auto& entry : fs::directory_iterator(path, error))
      if (entry.path().extension() == ".policy") inside.push_back(entry.path().string());
    if (error) return fail("file-unreadable", fmt::format("{}: {}", path, error.message()));
    if (inside.empty())
      return fail("policy-none", fmt::format("there is no organisation file in {}", path),
                  "name a folder with files that end in .policy, or the files themselves");
    std::ranges::sort(inside);
    files.insert(files.end(), inside.begin(), inside.end());
  }
  return files;
}

Result<lang::Sources> read(const std::vector<std::string>& paths) {
  const auto files = files_of(paths);
  if (!files) return std::unexpected(files.error());
  lang::Sources sources;
  for (const std::string& file : *files) {
    auto text = io::read_file(file, lang::kTextMax);
    if (!text) return std::unexpected(text.error());
    sources.add(file, std::move(*text));
  }
  return sources;
}

// "256 H100"
Result<std::pair<std::string, policy::Milli>> read_amount(const std::string& text,
                                                          const std::string& option) {
  const size_t blank = text.find(' ');
  const auto count = lang::read_integer(std::string_view(text).substr(0, blank));
  if (blank == std::string::npos || !count || *count > policy::kDevicesMax)
    return fail("usage", fmt::format("'{}' is no amount of devices", text),
                fmt::format("{} \"256 H100\"", option));
  return std::pair(text.substr(blank + 1), policy::devices(*count));
}

fs::path zone_folder() {
  const char* named = std::getenv("TZDIR");
  return named != nullptr ? named : "/usr/share/zoneinfo";
}

bool zone_exists(const std::string& zone) {
  const fs::path root = zone_folder();
  std::error_code error;
  if (!fs::is_directory(root, error)) return true;  // this machine knows no zones, so cannot say
  return fs::is_regular_file(root / zone, error);
}

struct Loaded {
  lang::Sources sources;
  Checked checked;
};

Result<Loaded> load(const PolicyArguments& a) {
  policy::CheckOptions options{.fleet = {}, .zone_exists = zone_exists};
  for (const std::string& text : a.fleet) {
    const auto amount = read_amount(text, "--fleet");
    if (!amount) return std::unexpected(amount.error());
    options.fleet[amount->first] = amount->second;
  }
  auto sources = read(a.paths);
  if (!sources) return std::unexpected(sources.error());
  Checked checked = policy::check_files(*sources, options);
  return Loaded{std::move(*sources), std::move(checked)};
}

void tell(const Loaded& l) {
  std::string text;
  for (const auto& d : l.checked.problems) text += lang::to_text(d, l.sources);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

// What the other subcommands do before their work: an organisation with errors is refused.
Result<Loaded> load_good(const PolicyArguments& a) {
  auto loaded = load(a);
  if (!loaded || loaded->checked.good()) return loaded;
  tell(*loaded);
  return fail("policy-refused", "the organisation has errors", "mend what is told above");
}

PolicyCheck view_of(const Loaded& l) {
  const auto& org = l.checked.organisation;
  PolicyCheck view{.organisation = org.name,
                   .version = org.version,
                   .digest = to_text(policy::digest_of(org)),
                   .teams = std::ssize(org.teams),
                   .classes = std::ssize(org.classes),
                   .devices = std::ssize(org.devices),
                   .tests = std::ssize(l.checked.tree.tests),
                   .diagnostics = {}};
  for (const auto& d : l.checked.problems) {
    ++(d.severity == lang::Severity::error ? view.errors : view.warnings);
    view.diagnostics.push_back(placed(d, l.sources));
  }
  return view;
}

Table table_of(const PolicyCheck& view) {
  Table t{.columns = {{"place"}, {"severity"}, {"code"}, {"message"}, {"hint"}}, .rows = {}};
  for (const auto& d : view.diagnostics)
    t.rows.push_back({fmt::format("{}:{}:{}", d.place.file, d.place.line, d.place.column),
                      enum_name(d.severity), d.code, d.message, d.hint});
  return t;
}

int check(Program& p, const PolicyArguments& a) {
  const auto loaded = load(a);
  if (!loaded) return complain(loaded.error());
  const PolicyCheck view = view_of(*loaded);
  const auto text = [&](const PolicyCheck& v, const TextOptions&) {
    tell(*loaded);
    if (v.errors > 0)
      return fmt::format("{}, {}\n", plural(v.errors, "error"), plural(v.warnings, "warning"));
    return fmt::format(
        "{} {}: {}, {}, {}, {}{}; digest {}\n", v.organisation, v.version, plural(v.teams, "team"),
        v.classes == 1 ? "1 class" : fmt::format("{} classes", v.classes),
        plural(v.devices, "kind") + " of devices", plural(v.tests, "test"),
        v.warnings > 0 ? fmt::format(", {}", plural(v.warnings, "warning")) : "", v.digest);
  };
  const int code = print_view(view, p.output, text, table_of);
  if (code != kExitGood) return code;
  return view.errors > 0 || (a.strict && view.warnings > 0) ? kExitFound : kExitGood;
}

int format_files(Program&, const PolicyArguments& a) {
  auto sources = read(a.paths);
  if (!sources) return complain(sources.error());
  policy::Tree ignored;
  lang::Diagnostics problems;
  for (lang::FileId file = 0; file < sources->size(); ++file)
    policy::parse(*sources, file, ignored, problems);
  if (lang::any_error(problems)) {
    lang::sort_by_place(problems);
    for (const auto& d : problems) fmt::print(stderr, "{}", to_text(d, *sources));
    return complain(problem("policy-refused", "a file with such errors cannot be laid out",
                            "mend what is told above; nothing was written"));
  }
  int64_t changed = 0;
  for (lang::FileId file = 0; file < sources->size(); ++file) {
    const std::string laid_out = lang::format(*sources, file, policy::format_rules());
    if (laid_out == sources->file(file).text()) continue;
    ++changed;
    if (!a.only_check) {
      const auto written = io::write_file(sources->file(file).name(), laid_out);
      if (!written) return complain(written.error());
    }
    print(sources->file(file).name() + "\n");
  }
  return a.only_check && changed > 0 ? kExitFound : kExitGood;
}

// Exit code 3, so that nobody takes it for a test that passed.
int test(Program&, const PolicyArguments& a) {
  const auto loaded = load_good(a);
  if (!loaded) return complain(loaded.error());
  for (const auto& t : loaded->checked.tree.tests)
    print(fmt::format("not run  {}\n", t.title.value));
  if (loaded->checked.tree.tests.empty()) return print("there are no tests\n");
  (void)complain(
      problem("tests-not-run",
              fmt::format("{} read and checked, and not run: this version has no planner yet",
                          loaded->checked.tree.tests.size() == 1
                              ? "1 test was"
                              : fmt::format("{} tests were", loaded->checked.tree.tests.size())),
              "`fairlead policy explain TEAM` shows the arithmetic that is there"));
  return kExitUnreachable;
}

// --holds "product/search=40 H100"
Result<void> take_holds(const PolicyArguments& a, const policy::Organisation& org,
                        policy::Quota& quota) {
  for (const std::string& text : a.holds) {
    const size_t equals = text.find('=');
    const auto amount =
        read_amount(text.substr(equals == std::string::npos ? 0 : equals + 1), "--holds TEAM=");
    if (!amount) return std::unexpected(amount.error());
    const auto team = org.team(text.substr(0, equals));
    const auto device = org.device(amount->first);
    if (equals == std::string::npos || !team || !device)
      return fail("usage", fmt::format("'{}' names no {}", text, !team ? "team" : "device class"),
                  "--holds \"product/search=40 H100\"");
    quota.charge(*team, *device, amount->second);
  }
  return {};
}

// The limits that hold at that instant, by the zones of this machine.
Result<void> take_calendar(const PolicyArguments& a, const policy::Organisation& org,
                           policy::Quota& quota) {
  if (a.at.empty()) return {};
  const auto at = parse_rfc3339(a.at);
  if (!at)
    return fail("usage", fmt::format("'{}' is no instant", a.at), "--at 2026-06-01T10:00:00+02:00");
  policy::Zones zones;
  for (const std::string& name : policy::zones_of(org)) {
    constexpr size_t kZoneFileMax = 1 << 20;
    const auto bytes = io::read_file((zone_folder() / name).string(), kZoneFileMax);
    if (!bytes) return std::unexpected(bytes.error());
    const auto zone = policy::Zone::read(*bytes);
    if (!zone) return std::unexpected(zone.error());
    zones.emplace(name, *zone);
  }
  policy::follow_calendar(org, zones, *at, quota);
  return {};
}

std::string limit_text(std::optional<int64_t> milli) {
  return milli ? policy::to_text(policy::Milli{*milli}) : "-";
}

Table table_of(const policy::TeamView& view) {
  Table t{.columns = {{"device"}}, .rows = {}};
  for (const char* title :
       {"own", "lend", "kept", "borrow", "limit", "direct", "inner", "load", "used", "headroom"})
    t.columns.push_back({title, Align::right});
  for (const auto& d : view.devices) {
    const auto text = [](int64_t milli) { return policy::to_text(policy::Milli{milli}); };
    t.rows.push_back({d.device, text(d.own_milli), limit_text(d.lend_milli), text(d.kept_milli),
                      limit_text(d.borrow_milli), limit_text(d.limit_milli), text(d.direct_milli),
                      text(d.inner_milli), text(d.load_milli), text(d.used_milli),
                      text(d.headroom_milli)});
  }
  return t;
}

std::string text_of(const policy::TeamView& v, bool headers) {
  std::string out = fmt::format("{}  {}of {} {}\n", v.team,
                                v.parent.empty() ? "the root " : fmt::format("in {}, ", v.parent),
                                v.organisation, v.version);
  const auto line = [&](std::string_view key, const std::string& value) {
    if (!value.empty()) out += fmt::format("  {:<9} {}\n", key, value);
  };
  line("weight", fmt::format("{}", v.weight));
  line("half-life", fmt::format("{}", lang::to_literal({v.half_life_us})));
  line("classes", fmt::format("{}", fmt::join(v.classes, ", ")));
  line("default", v.default_class);
  line("budget", v.budget);
  for (const std::string& window : v.windows) line("during", window);
  for (const std::string& member : v.members) line("members", member);
  line("teams", fmt::format("{}", fmt::join(v.children, ", ")));
  out += "\n" + to_text(table_of(v), {.headers = headers});
  for (const auto& d : v.devices) {
    out += fmt::format("\n{}\n", d.device);
    for (const std::string& step : d.steps) out += "  " + step + "\n";
  }
  return out;
}

int explain(Program& p, const PolicyArguments& a) {
  const auto loaded = load_good(a);
  if (!loaded) return complain(loaded.error());
  const auto& org = loaded->checked.organisation;
  const auto team = org.team(a.team);
  if (!team) {
    std::vector<std::string> paths;
    for (const auto& t : org.teams) paths.push_back(t.path);
    const auto meant = nearest_name(a.team, paths);
    return complain(problem("usage", fmt::format("there is no team '{}'", a.team),
                            meant ? fmt::format("did you mean '{}'?", *meant)
                                  : fmt::format("teams are {}", fmt::join(paths, ", "))));
  }
  policy::Quota quota(org);
  if (const auto followed = take_calendar(a, org, quota); !followed)
    return complain(followed.error());
  for (const std::string& text : a.fleet) {
    const auto amount = read_amount(text, "--fleet");
    if (const auto device = org.device(amount->first)) quota.set_capacity(*device, amount->second);
  }
  if (const auto held = take_holds(a, org, quota); !held) return complain(held.error());
  return print_view(
      policy::view_of(org, quota, *team), p.output,
      [&](const policy::TeamView& v, const TextOptions&) { return text_of(v, p.output.headers); },
      [](const policy::TeamView& v) { return table_of(v); });
}

}  // namespace

void add_policy_command(Program& p) {
  auto a = std::make_shared<PolicyArguments>();
  CLI::App* c = p.app.add_subcommand(
      "policy", "the organisation files: teams, classes, reclaim; checked, laid out, explained");
  c->require_subcommand(1);
  c->footer(
      "examples:\n  fairlead policy check /etc/fairlead/org\n  fairlead policy explain "
      "product/search /etc/fairlead/org --holds \"product/search=40 H100\"");
  using Run = int (*)(Program&, const PolicyArguments&);
  const auto add = [&](const char* name, const char* about, const char* examples, Run run) {
    CLI::App* s = c->add_subcommand(name, about);
    s->footer(fmt::format("examples:\n{}", examples));
    s->callback([&p, a, run] { p.run = [&p, a, run] { return run(p, *a); }; });
    return s;
  };
  const auto paths = [&](CLI::App* s) {
    s->add_option(
         "path", a->paths,
         "files, or folders of files that end in .policy; all of them are one organisation")
        ->required();
  };
  const auto fleet = [&](CLI::App* s) {
    s->add_option("--fleet", a->fleet, "what there is, as \"256 H100\"; once for each device class")
        ->allow_extra_args(false);
  };

  CLI::App* s = add("check", "tell everything that is wrong; exit code 1 where something is",
                    "  fairlead policy check acme.policy\n  fairlead policy check org/ --fleet "
                    "\"256 H100\" -o json",
                    check);
  paths(s);
  fleet(s);
  s->add_flag("--strict", a->strict, "exit code 1 for warnings too");
  add_output_options(*s, p);

  s = add("fmt", "the one layout, written in place; says which files changed",
          "  fairlead policy fmt org/\n  fairlead policy fmt --check org/", format_files);
  paths(s);
  s->add_flag("--check", a->only_check, "write nothing; exit code 1 where a file would change");

  s = add("test", "the tests in the files: read and checked; this version cannot run them yet",
          "  fairlead policy test acme.policy\n  fairlead policy test org/", test);
  paths(s);

  s = add("explain", "a team's arithmetic with its numbers",
          "  fairlead policy explain research org/\n  fairlead policy explain product/search org/ "
          "--holds \"product/ads=100 H100\" -o json",
          explain);
  s->add_option("team", a->team, "its path below the root, as product/search")->required();
  paths(s);
  fleet(s);
  s->add_option("--at", a->at,
                "by the calendar of that instant (2026-06-01T10:00:00+02:00); without it, outside "
                "every window");
  s->add_option("--holds", a->holds,
                "what a team holds now, as \"product/ads=100 H100\"; may be repeated")
      ->allow_extra_args(false);
  add_output_options(*s, p);
}

}  // namespace fairlead

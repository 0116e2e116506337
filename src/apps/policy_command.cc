// fairlead policy: the organisation files, checked, laid out, explained. No daemon is asked.
#include <fmt/format.h>

#include "apps/policy_input.h"
#include "io/file.h"
#include "policy/layout.h"
#include "policy/parser.h"
#include "present/table.h"

namespace fairlead {
namespace {

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

PolicyCheck view_of(const LoadedPolicy& l) {
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
  const auto loaded = load_policy(a);
  if (!loaded) return complain(loaded.error());
  const PolicyCheck view = view_of(*loaded);
  const auto text = [&](const PolicyCheck& v, const TextOptions&) {
    tell_problems(*loaded);
    if (v.errors > 0)
      return fmt::format("{}, {}\n", plural(v.errors, "error"), plural(v.warnings, "warning"));
    return fmt::format(
        "{} {}: {}, {}, {}, {}{}; digest {}\n", v.organisation, v.version, plural(v.teams, "team"),
        v.classes == 1 ? "1 class" : fmt::format("{} classes", v.classes),
        plural(v.devices, "kind") + " of devices", plural(v.tests, "test"),
        v.warnings > 0 ? fmt::format(", {}", plural(v.warnings, "warning")) : "", v.digest);
  };
  const int code = print_view(view, p.output, text, table_of, kNoRows);
  if (code != kExitGood) return code;
  return view.errors > 0 || (a.strict && view.warnings > 0) ? kExitFound : kExitGood;
}

int format_files(Program&, const PolicyArguments& a) {
  auto sources = read_policy(a.paths);
  if (!sources) return complain(sources.error());
  policy::Tree ignored;
  lang::Diagnostics problems;
  for (lang::FileId file = 0; file < sources->size(); ++file)
    policy::parse(*sources, file, ignored, problems);
  if (lang::any_error(problems)) {
    lang::sort_by_place(problems);
    for (const auto& d : problems) fmt::print(stderr, "{}", to_text(d, *sources));
    return complain(policy_problem("policy-refused", "a file with such errors cannot be laid out",
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
  const auto add_to = [&](CLI::App& above, const char* name, const char* about,
                          const char* examples, Run run) {
    CLI::App* s = above.add_subcommand(name, about);
    s->footer(fmt::format("examples:\n{}", examples));
    s->callback([&p, a, run] { p.run = [&p, a, run] { return run(p, *a); }; });
    return s;
  };
  const auto add = [&](const char* name, const char* about, const char* examples, Run run) {
    return add_to(*c, name, about, examples, run);
  };
  const auto paths = [&](CLI::App* s) {
    s->add_option(
         "path", a->paths,
         "files, or folders of files that end in .policy; all of them are one organisation")
        ->required();
  };
  const auto fleet = [&](CLI::App* s) {
    s->add_option("--fleet", a->fleet, "what there is: \"256 H100, 64 A100\"")
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

  s = add("test",
          "run the tests in the files by the planner, without any cluster; exit code 1 where one "
          "fails, 3 where one cannot be run",
          "  fairlead policy test acme.policy\n  fairlead policy test org/ -o wide",
          run_policy_tests);
  paths(s);
  add_output_options(*s, p);

  s = add("diff", "what another organisation changes for whom, and whose work would be another's",
          "  fairlead policy diff org/ org-v8/\n  fairlead policy diff acme.policy acme-v8.policy "
          "--jobs jobs.csv -o json",
          diff_policies);
  s->add_option("path", a->paths, "two files or folders: as it is, and as it would be")
      ->required()
      ->expected(2);
  s->add_option("--jobs", a->jobs,
                "work to look at instead of the daemon's: a CSV file with the columns "
                "workload,account,user,qos,partition");
  s->add_option("--server", p.ask.server,
                "the daemon: unix:/path or http://host:port (FAIRLEAD_SERVER)");
  s->add_option("--site", p.ask.site, "which of its sites");
  add_output_options(*s, p);

  CLI::App* import = c->add_subcommand(
      "import", "an organisation file from what another system says, to begin with");
  import->require_subcommand(1);
  import->footer(
      "examples:\n  fairlead policy import slurm > acme.policy\n  fairlead policy import kueue "
      "queues.yaml > acme.policy");
  s = add_to(*import, "slurm",
             "from accounts and QOS: of the Slurm that is here, or of what sacctmgr printed",
             "  fairlead policy import slurm > acme.policy\n  fairlead policy import slurm "
             "assoc.txt qos.txt --fleet \"256 h100\"",
             import_slurm);
  s->add_option("path", a->paths,
                "files of `sacctmgr -P show assoc tree` and `sacctmgr -P show qos`; none: look");
  fleet(s);
  add_look_options(*s, p);
  s = add_to(*import, "kueue", "from ClusterQueues and Cohorts, as YAML",
             "  kubectl get clusterqueues,cohorts,localqueues,resourceflavors -A -o yaml > "
             "queues.yaml\n  fairlead policy import kueue queues.yaml",
             import_kueue);
  s->add_option("path", a->paths, "files of YAML")->required();

  s = add("explain", "a team's arithmetic with its numbers",
          "  fairlead policy explain research org/\n  fairlead policy explain product/search org/ "
          "--holds \"product/ads=100 H100\" -o json",
          explain_policy_team);
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

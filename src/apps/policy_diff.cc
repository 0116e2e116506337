// fairlead policy diff: what a new organisation changes, for whom, and whose work would be
// another's.
//
// Both sides are worked out from the files, for work as if it were submitted now; what is seen
// already stays where it is. Who would be admitted, deferred or preempted otherwise is for the
// planner to say, on this same list of work.
#include <fmt/format.h>

#include <map>
#include <set>

#include "apps/organisation_files.h"
#include "apps/policy_input.h"
#include "base/words.h"
#include "core/belonging.h"
#include "io/file.h"
#include "policy/diff.h"
#include "policy/members_grid.h"
#include "present/layout.h"
#include "present/table.h"
#include "views/workloads_view.h"

namespace fairlead {
namespace {

struct MovedWork {  // whose team or class would be another
  std::string workload, user, account, team_before, team_after, class_before, class_after;
  bool operator==(const MovedWork&) const = default;
};
BOOST_DESCRIBE_STRUCT(MovedWork, (),
                      (workload, user, account, team_before, team_after, class_before, class_after))

struct PolicySide {
  std::string organisation, version, digest;
  bool operator==(const PolicySide&) const = default;
};
BOOST_DESCRIBE_STRUCT(PolicySide, (), (organisation, version, digest))

struct PolicyDiff {
  std::string apiVersion = "fairlead/v1", kind = "PolicyDiff";
  PolicySide before, after;
  std::vector<policy::PolicyChange> changes;
  bool work_known = false;  // a daemon told of it, or --jobs
  int64_t workloads = 0;
  std::vector<MovedWork> moved;
  bool operator==(const PolicyDiff&) const = default;
};
BOOST_DESCRIBE_STRUCT(PolicyDiff, (),
                      (apiVersion, kind, before, after, changes, work_known, workloads, moved))

// What of a workload decides to whom it belongs.
struct Labels {
  std::string workload, account, user, qos, partition;
};

struct Side {
  policy::Directory directory;
  PolicySide view;
};

Result<Side> read_side(const std::string& path) {
  auto read = read_organisation(path);
  if (!read) return std::unexpected(read.error());
  tell_problems(read->loaded);
  if (!read->stated)
    return fail("policy-refused", fmt::format("the organisation in {} has errors", path),
                "mend what is told above");
  const auto& org = read->loaded.checked.organisation;
  PolicySide view{org.name, org.version, to_text(policy::digest_of(org))};
  policy::Groups groups;
  for (const GroupMembers& g : read->stated->groups) groups[g.group] = g.users;
  return Side{policy::Directory(org, groups), std::move(view)};
}

// A table with the columns workload, account, user, qos and partition; those that are missing are
// empty.
Result<std::vector<Labels>> read_jobs(const std::string& path) {
  auto text = io::read_file(path, lang::kTextMax);
  if (!text) return std::unexpected(text.error());
  lang::Sources sources;
  const lang::FileId file = sources.add(path, std::move(*text));
  lang::Diagnostics problems;
  std::optional<policy::MembersGrid> grid;
  {
    policy::OddRows odd(problems);
    grid = policy::read_members_grid(sources, file, odd, problems);
  }
  for (const auto& problem : problems) fmt::print(stderr, "{}", to_text(problem, sources));
  const auto column = [&](std::string_view title) -> std::optional<size_t> {
    for (size_t i = 0; grid && i < grid->titles.size(); ++i)
      if (grid->titles[i].value == title) return i;
    return std::nullopt;
  };
  if (!column("account") && !column("user"))
    return fail("jobs-bad", fmt::format("{} has neither a column account nor a column user", path),
                "its first line is workload,account,user,qos,partition");
  std::vector<Labels> list;
  for (const auto& row : grid->rows) {
    const auto get = [&](std::string_view title) {
      const auto at = column(title);
      return at ? row[*at].value : std::string();
    };
    list.push_back({get("workload"), get("account"), get("user"), get("qos"), get("partition")});
  }
  return list;
}

// What waits or runs, of the daemon's list.
Result<std::vector<Labels>> ask_for_work(Asker& asker, const std::string& server) {
  std::vector<Labels> list;
  for (WorkloadId cursor = 0;;) {
    const auto body =
        asker.fetch(server, fmt::format("/v1/workloads?limit=10000&cursor={}", cursor));
    if (!body) return std::unexpected(body.error());
    const auto page = json::from_json<WorkloadList>(*body);
    if (!page) return std::unexpected(page.error());
    for (const WorkloadRow& w : page->workloads)
      if (!has_ended(w.state)) list.push_back({w.workload, w.account, w.user, w.qos, w.partition});
    if (page->next_cursor == 0) return list;
    cursor = page->next_cursor;
  }
}

std::pair<std::string, std::string> team_and_class(const policy::Directory& directory,
                                                   const Labels& labels) {
  using enum policy::MemberSource;
  policy::Who who;
  const auto say = [&](policy::MemberSource source, const std::string& value) {
    if (!value.empty()) who.identities.push_back({source, "", value});
  };
  say(slurm_account, labels.account);
  say(slurm_user, labels.user);
  say(slurm_qos, labels.qos);
  if (!labels.qos.empty()) who.class_words.push_back({labels.qos});
  for_each_name(labels.partition, [&](const std::string& partition) {
    say(slurm_partition, partition);
    who.class_words.push_back({partition});
  });
  for (const std::string& group_name : directory.groups_of(labels.user)) say(group, group_name);
  const policy::Belonging found = directory.find(who);
  const policy::Organisation& org = directory.organisation();
  return {found.team ? org.teams[*found.team].path : kUnassigned,
          found.klass ? org.classes[*found.klass].name : ""};
}

void add_work(PolicyDiff& diff, const Side& before, const Side& after,
              const std::vector<Labels>& work) {
  diff.work_known = true;
  diff.workloads = std::ssize(work);
  for (const Labels& labels : work) {
    const auto [team_before, class_before] = team_and_class(before.directory, labels);
    const auto [team_after, class_after] = team_and_class(after.directory, labels);
    if (team_before == team_after && class_before == class_after) continue;
    diff.moved.push_back({labels.workload, labels.user, labels.account, team_before, team_after,
                          class_before, class_after});
  }
}

Table changes_table(const PolicyDiff& diff) {
  Table t{.columns = {{"subject"}, {"what"}, {"before"}, {"after"}, {"change"}}, .rows = {}};
  for (const policy::PolicyChange& c : diff.changes)
    t.rows.push_back({c.subject, c.what, c.before, c.after, enum_name(c.change)});
  return t;
}

std::string text_of(const PolicyDiff& diff, const TextOptions& options) {
  std::string out = fmt::format("{} {} ({}) -> {} {} ({})\n", diff.before.organisation,
                                diff.before.version, diff.before.digest, diff.after.organisation,
                                diff.after.version, diff.after.digest);
  if (diff.changes.empty()) out += "Nothing changes.\n";
  std::string subject;
  Table t{.columns = {{"what"}, {"before"}, {"after"}}, .rows = {}};
  const auto flush = [&] {
    if (!t.rows.empty())
      out += block(t, [&] {
        auto o = options;
        o.headers = false;
        return o;
      }());
    t.rows.clear();
  };
  for (const policy::PolicyChange& c : diff.changes) {
    if (c.subject != subject) {
      flush();
      subject = c.subject;
      const bool whole = c.what.empty();
      out +=
          fmt::format("\n{}{}\n", subject, whole ? fmt::format(": {}", enum_name(c.change)) : "");
      if (whole) continue;
    }
    t.rows.push_back({c.what, c.before.empty() ? "-" : c.before, c.after.empty() ? "-" : c.after});
  }
  flush();
  if (!diff.work_known) return out + "\nNo work was looked at: no daemon runs, and no --jobs.\n";
  out += fmt::format("\n{} of {} would be another team's or of another class.\n",
                     with_thousands(std::ssize(diff.moved)), plural(diff.workloads, "workload"));
  Table moved{.columns = {{"team before"},
                          {"team after"},
                          {"class before"},
                          {"class after"},
                          {"workloads", Align::right},
                          {"as"}},
              .rows = {}};
  std::map<std::array<std::string, 4>, std::vector<std::string>> groups;
  for (const MovedWork& m : diff.moved)
    groups[{m.team_before, m.team_after, m.class_before, m.class_after}].push_back(m.workload);
  for (const auto& [key, names] : groups) {
    const auto shown = [](const std::string& k) { return k.empty() ? "-" : k; };
    moved.rows.push_back({key[0], key[1], shown(key[2]), shown(key[3]),
                          with_thousands(std::ssize(names)), names.front()});
  }
  return moved.rows.empty() ? out : out + "\n" + block(moved, options);
}

}  // namespace

int diff_policies(Program& p, const PolicyArguments& a) {
  const auto before = read_side(a.paths[0]);
  if (!before) return complain(before.error());
  const auto after = read_side(a.paths[1]);
  if (!after) return complain(after.error());
  PolicyDiff diff{
      .before = before->view,
      .after = after->view,
      .changes = changes_between(before->directory.organisation(), after->directory.organisation()),
      .moved = {}};
  Asker asker(p.ask);
  const auto server = asker.server_address();
  if (!a.jobs.empty() || server) {
    const auto work = !a.jobs.empty() ? read_jobs(a.jobs) : ask_for_work(asker, *server);
    if (!work) return complain(work.error());
    add_work(diff, *before, *after, *work);
  }
  return print_view(diff, p.output, text_of, changes_table,
                    [](PolicyDiff& d) { return &d.changes; });
}

}  // namespace fairlead

#include "imports/slurm.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "imports/slurm_parts.h"
#include "lang/units.h"

namespace fairlead::imports {
namespace {

class Importer {
 public:
  explicit Importer(const SlurmSays& says) : says_(says), devices_(says) {
    for (const Qos& q : says.qos) qos_names_[q.name] = class_names_.take(q.name);
    for (const Association& a : says.associations) {
      if (!a.partition.empty() || !a.user.empty())
        users_[a.account].push_back(&a);
      else
        accounts_.push_back(&a);
    }
    std::ranges::sort(accounts_, {}, &Association::account);
  }

  Draft run() {
    Draft draft;
    draft.name = Names().take(says_.cluster.empty() ? "slurm" : says_.cluster);
    draft.devices = devices_.declared();
    draft.classes = classes();
    draft.root = root(draft.name);
    draft.remarks = head();
    return draft;
  }

 private:
  std::vector<std::string> head() const {
    std::vector<std::string> lines = {
        fmt::format("From the accounts and QOS of Slurm{}. What has no counterpart is said in "
                    "comments.",
                    says_.cluster.empty() ? "" : " cluster " + says_.cluster),
        "",
        "Slurm's shares order work and guarantee nothing, so no team below the root owns anything "
        "yet:",
        "give each what it is to have a right to with `own`. Without `own`, `borrow` is all that a "
        "team may hold."};
    if (!says_.priority_weights.empty()) {
      std::string weights;
      for (const auto& [name, weight] : says_.priority_weights)
        if (weight > 0) weights += fmt::format(" {}={}", name, weight);
      lines.push_back(
          fmt::format("PriorityWeight:{}; here the order is fixed: entitled first, then "
                      "rank, share, age.",
                      weights.empty() ? " none" : weights));
    }
    if (tree_is_flat_)
      lines.push_back(
          "What was read does not say which account is below which: state it with "
          "`sacctmgr -P show assoc tree`.");
    return lines;
  }

  // QOS. A priority that is too large for a rank keeps its place among the others.
  std::vector<DraftClass> classes() {
    std::vector<const Qos*> order;
    for (const Qos& q : says_.qos) order.push_back(&q);
    std::ranges::sort(order, [](const Qos* a, const Qos* b) {
      return std::pair(-a->priority, a->name) < std::pair(-b->priority, b->name);
    });
    const bool scaled = std::ranges::any_of(
        order, [](const Qos* q) { return q->priority > kRankMax || q->priority < 0; });
    std::vector<DraftClass> classes;
    for (size_t i = 0; i < order.size(); ++i) {
      const auto place = static_cast<int64_t>(order.size() - i);
      classes.push_back(class_of(*order[i], scaled ? 10 * place : order[i]->priority));
    }
    return classes;
  }
  DraftClass class_of(const Qos& q, int64_t rank) {
    DraftClass k{.name = qos_names_.at(q.name), .remarks = {}, .keys = {}};
    if (k.name != q.name)
      k.remarks.push_back(
          fmt::format("QOS '{}' is no name here, so its work does not get this "
                      "class by itself.",
                      q.name));
    k.keys.push_back(fmt::format("rank {}", rank));
    if (rank != q.priority) k.remarks.push_back(fmt::format("Priority={}", q.priority));
    const std::vector<std::string> prey = preempts(q, k);
    if (!prey.empty())
      k.keys.push_back(fmt::format("preempts {}  anywhere", fmt::join(prey, ", ")));
    Leftovers left;
    Amounts other = q.limits.tres_per_job;
    const auto most = std::ranges::find_if(
        other, [&](const auto& item) { return item.first == kGpu && item.second > 0; });
    if (most != other.end()) {
      k.keys.push_back(fmt::format("most {} per workload", most->second));
      other.erase(most);
    }
    if (q.limits.wall_per_job_s > 0)
      k.keys.push_back("most-time " + lang::to_literal(seconds(q.limits.wall_per_job_s)));
    left.tell("MaxTRESPJ", other);
    left.tell("GrpTRES", q.limits.tres_group);
    left.tell("MaxTRESPU", q.tres_per_user);
    left.tell("MaxTRESPA", q.tres_per_account);
    left.tell("MinTRESPJ", q.tres_min_per_job);
    left.add_shared(q.limits);
    left.tell("MaxJobsPU", q.jobs_per_user);
    left.tell("MaxJobsPA", q.jobs_per_account);
    left.tell("MaxSubmitPU", q.submit_per_user);
    left.tell("MaxSubmitPA", q.submit_per_account);
    if (!left.empty())
      k.remarks.push_back(fmt::format("{}: no counterpart: {}", q.name, left.text()));
    if (!q.flags.empty())
      k.remarks.push_back(
          fmt::format("{}: no counterpart: Flags={}", q.name, fmt::join(q.flags, ",")));
    return k;
  }
  // Without those that would close a circle, which Slurm allows.
  std::vector<std::string> preempts(const Qos& q, DraftClass& k) {
    std::vector<std::string> prey;
    for (const std::string& other : q.preempts) {
      if (!qos_names_.contains(other)) continue;
      if (other == q.name || reaches(other, q.name)) {
        k.remarks.push_back(
            fmt::format("{}: Preempt={} would close a circle, and is left out", q.name, other));
        continue;
      }
      edges_[q.name].insert(other);
      prey.push_back(qos_names_.at(other));
    }
    return prey;
  }
  bool reaches(const std::string& from, const std::string& to) const {
    std::vector<std::string> open{from};
    std::set<std::string> seen;
    while (!open.empty()) {
      const std::string at = open.back();
      open.pop_back();
      if (at == to) return true;
      if (!seen.insert(at).second) continue;
      if (const auto next = edges_.find(at); next != edges_.end())
        open.insert(open.end(), next->second.begin(), next->second.end());
    }
    return false;
  }

  // Accounts.
  DraftTeam root(const std::string& name) {
    const auto at = std::ranges::find(accounts_, "root", &Association::account);
    const Association* root = at == accounts_.end() ? nullptr : *at;
    DraftTeam team{.name = name, .remarks = {}, .lines = {}, .teams = {}};
    std::string own;
    for (const auto& [device, count] : devices_.fleet())
      own += (own.empty() ? "" : ", ") + amount_text(count, device);
    if (!own.empty()) team.lines.push_back({"own " + own, "all that there is"});
    if (own.empty()) team.remarks.emplace_back("What there is was not read: state it with `own`.");
    if (says_.half_life_s > 0)
      team.lines.push_back(
          {"half-life " + lang::to_literal(seconds(says_.half_life_s)), "PriorityDecayHalfLife"});
    if (says_.half_life_s == 0)
      team.remarks.emplace_back(
          "PriorityDecayHalfLife=0: usage does not fade in Slurm; here it "
          "does.");
    if (root != nullptr) {
      add_account(team, *root, nullptr);
      done_.insert(root);
    }
    std::set<std::string> all;
    for (const auto& [qos, known] : qos_names_) all.insert(known);
    Names names;
    add_children(team, root, names, all);
    // What hangs below nothing that is known.
    for (const Association* a : accounts_) {
      if (done_.contains(a)) continue;
      tree_is_flat_ = tree_is_flat_ || a->parent == 0;
      team.teams.push_back(team_of(*a, names, all));
    }
    return team;
  }
  void add_children(DraftTeam& team, const Association* parent, Names& names,
                    const std::set<std::string>& classes) {
    if (parent == nullptr || parent->id == 0) return;
    for (const Association* a : accounts_)
      if (a->parent == parent->id && !done_.contains(a))
        team.teams.push_back(team_of(*a, names, classes));
  }
  DraftTeam team_of(const Association& a, Names& names, const std::set<std::string>& above) {
    done_.insert(&a);
    DraftTeam team{.name = names.take(a.account), .remarks = {}, .lines = {}, .teams = {}};
    const std::set<std::string> classes = add_account(team, a, &above);
    Names inner;
    add_children(team, &a, inner, classes);
    return team;
  }

  // `above`: the classes that it would inherit; null for the root, which may have all. Returns its
  // own.
  std::set<std::string> add_account(DraftTeam& team, const Association& a,
                                    const std::set<std::string>* above) {
    const bool is_root = above == nullptr;
    Leftovers left;
    Amounts other = a.limits.tres_group;
    for (const auto& [tres, limit] : a.limits.tres_group) {
      const std::string device = devices_.class_of(tres);
      if (device.empty() || is_root) continue;
      team.lines.push_back(
          {"borrow " + amount_text(limit, device), fmt::format("GrpTRES {}={}", tres, limit)});
      other.erase(tres);
    }
    join_amounts(team.lines);
    left.tell("GrpTRES", other);
    left.tell("MaxTRESPJ", a.limits.tres_per_job);
    left.tell_time("MaxWallPJ", a.limits.wall_per_job_s);
    left.add_shared(a.limits);
    std::set<std::string> classes;
    if (!is_root) {
      add_weight(team, a);
      classes = add_classes(team, a, *above);
    }
    if (can_be_quoted(a.account))
      team.lines.push_back({fmt::format("members slurm account \"{}\"", a.account), ""});
    else
      team.remarks.push_back(fmt::format("Account '{}' cannot be written as a member.", a.account));
    if (!left.empty()) team.remarks.push_back("No counterpart: " + left.text());
    tell_users(team, a);
    return classes;
  }
  // `borrow` is written once: `borrow 64 H100, 8 A100`.
  static void join_amounts(std::vector<DraftLine>& lines) {
    constexpr std::string_view kBorrow = "borrow ";
    DraftLine* first = nullptr;
    for (DraftLine& line : lines) {
      if (!line.text.starts_with(kBorrow)) continue;
      if (first != nullptr) {
        first->text += ", " + line.text.substr(kBorrow.size());
        first->remark += line.remark.substr(line.remark.find(' ')).replace(0, 1, ",");
        line.text.clear();
      } else {
        first = &line;
      }
    }
    std::erase_if(lines, [](const DraftLine& line) { return line.text.empty(); });
  }
  void add_weight(DraftTeam& team, const Association& a) const {
    if (a.shares < 0) {
      team.remarks.emplace_back("Fairshare=parent has no counterpart: it has a share like others.");
      return;
    }
    if (a.shares > kWeightMax)
      team.remarks.push_back(fmt::format("Fairshare={} is more than a weight can be.", a.shares));
    team.lines.push_back({fmt::format("weight {}", std::min(a.shares, kWeightMax)), "Fairshare"});
  }
  // What its users may have, since Slurm asks the user; teams inherit from `above`.
  std::set<std::string> add_classes(DraftTeam& team, const Association& a,
                                    const std::set<std::string>& above) const {
    std::set<std::string> names;
    std::map<std::string, int64_t> defaults;
    const auto take = [&](const Association& of) {
      for (const std::string& qos : of.qos)
        if (const auto known = qos_names_.find(qos); known != qos_names_.end())
          names.insert(known->second);
      if (const auto known = qos_names_.find(of.qos_default); known != qos_names_.end())
        ++defaults[known->second];
    };
    take(a);
    if (const auto users = users_.find(a.account); users != users_.end())
      for (const Association* user : users->second) take(*user);
    if (names.empty()) names = above;
    if (names != above)
      team.lines.push_back({fmt::format("classes {}", fmt::join(names, ", ")), "QOS"});
    std::erase_if(defaults, [&](const auto& d) { return !names.contains(d.first); });
    if (defaults.empty()) return names;
    const auto usual =
        std::ranges::max_element(defaults, {}, [](const auto& item) { return item.second; });
    team.lines.push_back({"default class " + usual->first,
                          defaults.size() == 1 ? "DefaultQOS" : "DefaultQOS of most"});
    return names;
  }

  // A user's own share and limits: teams are accounts.
  void tell_users(DraftTeam& team, const Association& account) const {
    const auto found = users_.find(account.account);
    if (found == users_.end()) return;
    constexpr size_t kToldMax = 10;  // chosen: more are a list, not a remark
    std::map<int64_t, int64_t> usual;
    for (const Association* u : found->second) ++usual[u->shares];
    const int64_t most =
        std::ranges::max_element(usual, {}, [](const auto& item) { return item.second; })->first;
    std::vector<std::string> told;
    for (const Association* u : found->second) {
      Leftovers left;
      if (u->shares != most && u->shares >= 0) left.tell("Fairshare", u->shares);
      if (u->limits.tres_group != account.limits.tres_group)
        left.tell("GrpTRES", u->limits.tres_group);
      if (u->limits.tres_per_job != account.limits.tres_per_job)
        left.tell("MaxTRESPJ", u->limits.tres_per_job);
      if (u->limits.wall_per_job_s != account.limits.wall_per_job_s)
        left.tell_time("MaxWallPJ", u->limits.wall_per_job_s);
      if (u->limits.jobs_max != account.limits.jobs_max) left.tell("MaxJobs", u->limits.jobs_max);
      if (left.empty() && u->partition.empty()) continue;
      told.push_back(fmt::format("{}{}{}", u->user.empty() ? "(account)" : u->user,
                                 u->partition.empty() ? "" : " in partition " + u->partition,
                                 left.empty() ? "" : " " + left.text()));
    }
    if (told.empty()) return;
    const size_t more = told.size() - std::min(told.size(), kToldMax);
    told.resize(std::min(told.size(), kToldMax));
    team.remarks.push_back(fmt::format("No counterpart, of users: {}{}", fmt::join(told, "; "),
                                       more > 0 ? fmt::format("; and {} more", more) : ""));
  }

  const SlurmSays& says_;
  Devices devices_;
  Names class_names_;
  std::map<std::string, std::string> qos_names_;
  std::map<std::string, std::set<std::string>> edges_;  // who preempts whom
  std::vector<const Association*> accounts_;
  std::map<std::string, std::vector<const Association*>> users_;
  std::set<const Association*> done_;
  bool tree_is_flat_ = false;
};

}  // namespace

Draft draft_of(const SlurmSays& says) { return Importer(says).run(); }

}  // namespace fairlead::imports

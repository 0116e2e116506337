#include "imports/kueue.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>

namespace fairlead::imports {
namespace {

bool is_device(std::string_view resource) {
  return resource.ends_with("/gpu") || resource.ends_with("/tpu") ||
         resource.starts_with("gpu.intel.com/") || resource.starts_with("habana.ai/") ||
         resource.starts_with("nvidia.com/mig-");
}

// A whole count: "8", "2k". Nothing of "500m" and of what is no number.
std::optional<int64_t> count_of(std::string_view quantity) {
  int64_t number = 0;
  const char* end = quantity.data() + quantity.size();
  const auto [rest, error] = std::from_chars(quantity.data(), end, number);
  if (error != std::errc{} || number < 0 || number > INT64_MAX / 1000) return std::nullopt;
  if (rest == end) return number;
  return std::string_view(rest, end) == "k" ? std::optional(number * 1000) : std::nullopt;
}

// In thousandths: "2", "0.5", "500m".
std::optional<int64_t> thousandths_of(std::string_view quantity) {
  const bool milli = quantity.ends_with('m');
  if (milli) quantity.remove_suffix(1);
  const size_t point = quantity.find('.');
  const auto whole = count_of(quantity.substr(0, point));
  if (!whole) return std::nullopt;
  if (milli) return point == quantity.npos ? whole : std::nullopt;
  if (point == quantity.npos) return *whole * 1000;
  std::string digits(quantity.substr(point + 1));
  digits.resize(3, '0');
  const auto part = count_of(digits);
  return part ? std::optional(*whole * 1000 + *part) : std::nullopt;
}

struct Amounts {
  std::map<std::string, int64_t> own;
  std::map<std::string, int64_t> borrow, lend;
};

std::string text_of(const std::map<std::string, int64_t>& amounts) {
  std::string text;
  for (const auto& [device, count] : amounts)
    text += (text.empty() ? "" : ", ") + amount_text(count, device);
  return text;
}

class Importer {
 public:
  explicit Importer(const KueueSays& says) : says_(says) {
    for (const KueueQueue& c : says.cohorts) cohorts_[c.name] = &c;
    for (const KueueQueue& q : says.queues)  // a cohort may be named and never declared
      if (!q.cohort.empty()) children_[q.cohort].push_back(&q);
    for (const KueueQueue& c : says.cohorts)
      if (!c.cohort.empty()) children_[c.cohort].push_back(&c);
    for (const auto* list : {&says.queues, &says.cohorts})
      for (const KueueQueue& q : *list) {
        fractions_ = fractions_ || thousandths_of(q.weight).value_or(0) % 1000 != 0;
        preempts_within_ = preempts_within_ || q.within_queue.starts_with("Lower");
      }
    for (const auto& [name, value] : says.priorities) class_names_[name] = classes_.take(name);
  }

  Draft run() {
    Draft draft;
    draft.name = "kueue";
    draft.root = {.name = "cluster", .remarks = {}, .lines = {}, .teams = {}};
    Names names;
    Amounts all;
    const auto add = [&](DraftTeam team, const Amounts& amounts) {
      for (const auto& [device, count] : amounts.own) all.own[device] += count;
      draft.root.teams.push_back(std::move(team));
    };
    for (const auto& [cohort, members] : children_) {
      const auto declared = cohorts_.find(cohort);
      if (declared != cohorts_.end() && is_below_another(*declared->second)) continue;
      Amounts amounts;
      DraftTeam team = cohort_team(cohort, names, amounts);
      shut(team, amounts);
      add(std::move(team), amounts);
    }
    for (const KueueQueue& q : says_.queues) {
      if (!q.cohort.empty()) continue;
      Amounts amounts = amounts_of(q);
      amounts.borrow.clear();
      amounts.lend.clear();
      DraftTeam team = team_of(q, names, amounts);
      shut(team, amounts);
      add(std::move(team), amounts);
    }
    if (!all.own.empty()) draft.root.lines.push_back({"own " + text_of(all.own), "all quotas"});
    draft.classes = classes();
    draft.devices = devices();
    draft.remarks = {
        "From Kueue's ClusterQueues and Cohorts. What has no counterpart is said in comments.", "",
        "Quotas of CPU and memory have none: they are side constraints of where work fits."};
    for (std::string& told : told_flavors()) draft.remarks.push_back(std::move(told));
    if (fractions_) draft.remarks.emplace_back("Weights are in thousandths, since some are parts.");
    return draft;
  }

 private:
  // A circle of cohorts, which Kueue stops with an error, is below nothing that is drawn.
  bool is_below_another(const KueueQueue& cohort) const {
    std::set<std::string> seen;
    for (const KueueQueue* at = &cohort; !at->cohort.empty();) {
      if (!seen.insert(at->name).second) return false;
      const auto up = cohorts_.find(at->cohort);
      if (up == cohorts_.end()) return true;
      at = up->second;
    }
    return !cohort.cohort.empty();
  }

  std::string device_of(const std::string& flavor) {
    const auto product = says_.products.find(flavor);
    const bool named = product != says_.products.end() && !product->second.empty();
    return devices_[flavor] = model_name(named ? product->second : flavor);
  }
  Amounts amounts_of(const KueueQueue& q) {
    Amounts amounts;
    for (const KueueQuota& quota : q.quotas) {
      if (!is_device(quota.resource)) continue;
      const std::string device = device_of(quota.flavor);
      if (const auto n = count_of(quota.nominal)) amounts.own[device] += *n;
      if (const auto n = count_of(quota.borrowing)) amounts.borrow[device] += *n;
      if (const auto n = count_of(quota.lending)) amounts.lend[device] += *n;
    }
    // A lending limit above what is owned limits nothing.
    for (auto& [device, count] : amounts.lend) count = std::min(count, amounts.own[device]);
    std::erase_if(amounts.lend, [&](const auto& l) { return amounts.own[l.first] == 0; });
    return amounts;
  }

  DraftTeam cohort_team(const std::string& name, Names& names, Amounts& amounts) {
    static const KueueQueue kNotDeclared;
    on_path_.insert(name);
    const auto declared = cohorts_.find(name);
    const KueueQueue& cohort = declared == cohorts_.end() ? kNotDeclared : *declared->second;
    amounts = amounts_of(cohort);
    Names inner;
    std::vector<DraftTeam> teams;
    const auto members = children_.find(name);
    for (const KueueQueue* child : members == children_.end() ? kNobody : members->second) {
      const bool is_cohort = std::ranges::find(says_.queues, child, [](const KueueQueue& q) {
                               return &q;
                             }) == says_.queues.end();
      if (is_cohort && on_path_.contains(child->name)) continue;
      Amounts theirs = amounts_of(*child);
      if (is_cohort)
        teams.push_back(cohort_team(child->name, inner, theirs));
      else
        teams.push_back(team_of(*child, inner, theirs));
      for (const auto& [device, count] : theirs.own) amounts.own[device] += count;
    }
    on_path_.erase(name);
    KueueQueue named = cohort;
    named.name = name;
    DraftTeam team = team_of(named, names, amounts);
    if (declared == cohorts_.end())
      team.remarks.push_back(fmt::format("Cohort {} is named by its queues alone.", name));
    team.teams = std::move(teams);
    return team;
  }

  DraftTeam team_of(const KueueQueue& q, Names& names, const Amounts& amounts) {
    DraftTeam team{.name = names.take(q.name), .remarks = {}, .lines = {}, .teams = {}};
    if (!amounts.own.empty()) team.lines.push_back({"own " + text_of(amounts.own), "nominalQuota"});
    if (!amounts.lend.empty())
      team.lines.push_back({"lend " + text_of(amounts.lend), "lendingLimit"});
    if (!amounts.borrow.empty())
      team.lines.push_back({"borrow " + text_of(amounts.borrow), "borrowingLimit"});
    add_weight(team, q);
    add_members(team, q);
    std::vector<std::string> left;
    for (const KueueQuota& quota : q.quotas) {
      if (!is_device(quota.resource))
        left.push_back(fmt::format("{} {} of {}", quota.resource, quota.nominal, quota.flavor));
      else if (!quota.nominal.empty() && !count_of(quota.nominal))
        left.push_back(fmt::format("{} {} is no whole number", quota.resource, quota.nominal));
    }
    left.insert(left.end(), q.others.begin(), q.others.end());
    if (q.reclaim_within_cohort == "Never")
      left.emplace_back("reclaimWithinCohort: Never (here an owner may have its own back)");
    if (!q.borrow_within_cohort.empty() && q.borrow_within_cohort != "Never")
      left.push_back("borrowWithinCohort: " + q.borrow_within_cohort);
    if (!left.empty())
      team.remarks.push_back(fmt::format("No counterpart: {}", fmt::join(left, ", ")));
    return team;
  }
  // Nothing flows between what is in no cohort together.
  static void shut(DraftTeam& team, const Amounts& amounts) {
    if (amounts.own.empty()) return;
    std::map<std::string, int64_t> none;
    for (const auto& [device, count] : amounts.own) none[device] = 0;
    std::erase_if(team.lines, [](const DraftLine& line) {
      return line.text.starts_with("lend ") || line.text.starts_with("borrow ");
    });
    team.lines.insert(team.lines.begin() + 1,
                      {{"lend " + text_of(none), "nothing leaves it"},
                       {"borrow " + text_of(none), "and nothing comes in"}});
  }
  void add_weight(DraftTeam& team, const KueueQueue& q) const {
    if (q.weight.empty()) return;
    const auto weight = thousandths_of(q.weight);
    if (!weight) {
      team.remarks.push_back(fmt::format("Weight {} cannot be read.", q.weight));
      return;
    }
    const int64_t whole = fractions_ ? *weight : *weight / 1000;
    team.lines.push_back(
        {fmt::format("weight {}", std::min(whole, kWeightMax)), "fairSharing.weight"});
  }
  void add_members(DraftTeam& team, const KueueQueue& q) const {
    std::set<std::string> namespaces;
    for (const KueueLocalQueue& local : says_.local_queues) {
      if (local.queue != q.name || !can_be_quoted(local.name_space)) continue;
      const bool alone = std::ranges::all_of(says_.local_queues, [&](const KueueLocalQueue& other) {
        return other.name_space != local.name_space || other.queue == q.name;
      });
      if (alone)
        namespaces.insert(fmt::format("\"{}\"", local.name_space));
      else
        team.remarks.push_back(fmt::format(
            "LocalQueue {}/{}: other queues of its namespace lead elsewhere, so say who is in "
            "this team by a label or a service account.",
            local.name_space, local.name));
    }
    if (!namespaces.empty())
      team.lines.push_back(
          {fmt::format("members kubernetes namespace {}", fmt::join(namespaces, ", ")),
           "LocalQueue"});
  }

  std::vector<DraftClass> classes() const {
    std::vector<std::pair<int64_t, std::string>> order;  // the highest first
    for (const auto& [name, value] : says_.priorities) order.emplace_back(-value, name);
    std::ranges::sort(order);
    const bool scaled = std::ranges::any_of(
        order, [](const auto& k) { return -k.first > kRankMax || k.first > 0; });
    std::vector<DraftClass> classes;
    for (size_t i = 0; i < order.size(); ++i) {
      const auto& [negative, name] = order[i];
      const int64_t rank = scaled ? static_cast<int64_t>(10 * (order.size() - i)) : -negative;
      DraftClass k{
          .name = class_names_.at(name), .remarks = {}, .keys = {fmt::format("rank {}", rank)}};
      if (rank != -negative) k.remarks.push_back(fmt::format("{}: value {}", name, -negative));
      std::vector<std::string> lower;
      for (size_t j = i + 1; j < order.size(); ++j)
        if (order[j].first > negative) lower.push_back(class_names_.at(order[j].second));
      if (preempts_within_ && !lower.empty())
        k.keys.push_back(fmt::format("preempts {}", fmt::join(lower, ", ")));
      classes.push_back(std::move(k));
    }
    if (preempts_within_ && !classes.empty())
      classes.front().remarks.insert(classes.front().remarks.begin(),
                                     "withinClusterQueue: LowerPriority, as some queues have it; "
                                     "here it holds in every team.");
    return classes;
  }
  std::vector<std::string> devices() const {
    std::set<std::string> lines;
    for (const auto& [flavor, device] : devices_)
      lines.insert(fmt::format("{} {{ {} }}", device, device));
    return {lines.begin(), lines.end()};
  }
  // On-demand and spot are two flavors of one product, and one device class.
  std::vector<std::string> told_flavors() const {
    std::map<std::string, std::vector<std::string>> flavors;
    for (const auto& [flavor, device] : devices_) flavors[device].push_back(flavor);
    std::vector<std::string> told;
    for (const auto& [device, names] : flavors)
      if (names.size() > 1)
        told.push_back(fmt::format("Flavors {} are of one product, and one device class: {}.",
                                   fmt::join(names, ", "), device));
    return told;
  }

  static const std::vector<const KueueQueue*> kNobody;
  const KueueSays& says_;
  std::map<std::string, const KueueQueue*> cohorts_;
  std::map<std::string, std::vector<const KueueQueue*>> children_;  // by cohort
  std::map<std::string, std::string> devices_;                      // by flavor
  std::map<std::string, std::string> class_names_;
  Names classes_;
  std::set<std::string> on_path_;  // cohorts that are being drawn: a circle ends there
  bool fractions_ = false, preempts_within_ = false;
};

const std::vector<const KueueQueue*> Importer::kNobody = {};

}  // namespace

Draft draft_of(const KueueSays& says) { return Importer(says).run(); }

}  // namespace fairlead::imports

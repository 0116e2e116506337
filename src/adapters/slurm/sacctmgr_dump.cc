#include "adapters/slurm/sacctmgr_dump.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "adapters/slurm/words.h"

namespace fairlead::slurm {
namespace {

using Titles = std::vector<std::string_view>;

// What sacctmgr prints by itself; measured on 22.05 (26 columns of QOS), 24.11 and 26.05 (28).
const Titles kAssocTitles = {
    "Cluster",     "Account",     "User",    "Partition",      "Share",
    "Priority",    "GrpJobs",     "GrpTRES", "GrpSubmit",      "GrpWall",
    "GrpTRESMins", "MaxJobs",     "MaxTRES", "MaxTRESPerNode", "MaxSubmit",
    "MaxWall",     "MaxTRESMins", "QOS",     "Def QOS",        "GrpTRESRunMins"};
const Titles kQosTitles = {
    "Name",        "Priority",       "GraceTime",   "Preempt",          "PreemptExemptTime",
    "PreemptMode", "Flags",          "UsageThres",  "UsageFactor",      "GrpTRES",
    "GrpTRESMins", "GrpTRESRunMins", "GrpJobs",     "GrpSubmit",        "GrpWall",
    "MaxTRES",     "MaxTRESPerNode", "MaxTRESMins", "MaxWall",          "MaxTRESPU",
    "MaxJobsPU",   "MaxSubmitPU",    "MaxTRESPA",   "MaxTRESRunMinsPA", "MaxTRESRunMinsPU",
    "MaxJobsPA",   "MaxSubmitPA",    "MinTRES"};
const Titles kQosTitles2205 = [] {
  Titles titles = kQosTitles;
  std::erase_if(titles, [](std::string_view t) { return t.starts_with("MaxTRESRunMins"); });
  return titles;
}();

class Line {
 public:
  Line(const std::map<std::string, size_t, std::less<>>& columns,
       std::vector<std::string_view> cells)
      : columns_(columns), cells_(std::move(cells)) {}

  bool has(std::string_view title) const { return columns_.contains(title); }
  // Of the first of several titles that the text has.
  std::string_view get(std::initializer_list<std::string_view> titles) const {
    for (const std::string_view title : titles)
      if (const auto at = columns_.find(title); at != columns_.end()) return cells_[at->second];
    return {};
  }
  int64_t number(std::initializer_list<std::string_view> titles) const {
    return parse_whole(get(titles)).value_or(-1);
  }
  int64_t time_s(std::initializer_list<std::string_view> titles) const {
    const std::string_view text = get(titles);
    return text.empty() ? -1 : parse_span_s(text).value_or(-1);
  }
  Amounts tres(std::initializer_list<std::string_view> titles) const {
    return parse_tres(get(titles));
  }

 private:
  const std::map<std::string, size_t, std::less<>>& columns_;
  std::vector<std::string_view> cells_;
};

Limits limits_of(const Line& line) {
  return {.tres_group = line.tres({"GrpTRES"}),
          .tres_minutes_group = line.tres({"GrpTRESMins"}),
          .tres_running_minutes_group = line.tres({"GrpTRESRunMins"}),
          .tres_per_job = line.tres({"MaxTRES", "MaxTRESPJ", "MaxTRESPerJob"}),
          .tres_per_node = line.tres({"MaxTRESPerNode", "MaxTRESPN"}),
          .tres_minutes_per_job = line.tres({"MaxTRESMins", "MaxTRESMinsPJ"}),
          .jobs_group = line.number({"GrpJobs"}),
          .submit_group = line.number({"GrpSubmit", "GrpSubmitJobs"}),
          .wall_group_s = line.time_s({"GrpWall"}),
          .wall_per_job_s = line.time_s({"MaxWall", "MaxWallPJ", "MaxWallDurationPerJob"}),
          .jobs_max = line.number({"MaxJobs"}),
          .submit_max = line.number({"MaxSubmit", "MaxSubmitJobs"})};
}

std::vector<std::string> sorted_names(std::string_view text) {
  std::vector<std::string> names = split_names(text);
  std::ranges::sort(names);
  return names;
}

class Reader {
 public:
  Reader(SacctmgrDump& dump, std::string name) : dump_(dump), name_(std::move(name)) {}

  Result<void> read(std::string_view text) {
    int number = 0;
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size());
      std::string_view line = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      ++number;
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (trim(line).empty()) continue;
      if (auto taken = take(line, number); !taken) return taken;
    }
    if (columns_.empty())
      return fail("dump-bad", fmt::format("{} is empty", name_),
                  "make it with `sacctmgr -P show assoc` or `sacctmgr -P show qos`");
    find_parents();
    return {};
  }

 private:
  Result<void> take(std::string_view line, int number) {
    std::vector<std::string_view> cells;
    for (size_t at = 0; at <= line.size();) {  // `split` would keep [..] and (..) together
      const size_t bar = std::min(line.find('|', at), line.size());
      cells.push_back(line.substr(at, bar - at));
      at = bar + 1;
    }
    if (columns_.empty() && take_titles(cells)) return {};
    if (columns_.empty())
      return bad(number, "this is no output of `sacctmgr -P show assoc` or `show qos`");
    if (cells.size() != columns_.size())
      return bad(number, fmt::format("this line has {} columns, and there are {} titles",
                                     cells.size(), columns_.size()));
    const Line own(columns_, std::move(cells));
    if (is_qos_)
      add_qos(own);
    else
      add_association(own);
    return {};
  }
  std::unexpected<Diagnostic> bad(int number, std::string message) const {
    return fail("dump-bad", std::move(message),
                "make it with `sacctmgr -P show assoc tree` or `sacctmgr -P show qos`",
                {.source = name_, .line = number});
  }

  // Returns whether the line was the titles; without any, the columns are known by their number.
  bool take_titles(const std::vector<std::string_view>& cells) {
    const auto has = [&](std::string_view title) {
      return std::ranges::find(cells, title) != cells.end();
    };
    const bool assoc = has("Account") && (has("Cluster") || has("Share") || has("Fairshare"));
    const bool qos = has("Name") && (has("Priority") || has("Preempt"));
    const Titles* by_number = nullptr;
    for (const Titles* titles : {&kAssocTitles, &kQosTitles, &kQosTitles2205})
      if (cells.size() == titles->size()) by_number = titles;
    is_qos_ = !assoc && (qos || by_number != &kAssocTitles);
    if (assoc || qos) {
      for (size_t i = 0; i < cells.size(); ++i) columns_.emplace(cells[i], i);
      return true;
    }
    if (by_number != nullptr)
      for (size_t i = 0; i < by_number->size(); ++i) columns_.emplace((*by_number)[i], i);
    return false;
  }

  void add_qos(const Line& line) {
    Qos q{.name = std::string(trim(line.get({"Name"}))),
          .priority = std::max<int64_t>(line.number({"Priority"}), 0)};
    q.preempts = sorted_names(line.get({"Preempt"}));
    q.flags = sorted_names(line.get({"Flags"}));
    q.limits = limits_of(line);
    q.limits.jobs_max = q.limits.submit_max = -1;
    q.tres_per_user = line.tres({"MaxTRESPU", "MaxTRESPerUser"});
    q.tres_per_account = line.tres({"MaxTRESPA", "MaxTRESPerAccount"});
    q.tres_min_per_job = line.tres({"MinTRES", "MinTRESPerJob"});
    q.jobs_per_user = line.number({"MaxJobsPU", "MaxJobsPerUser"});
    q.jobs_per_account = line.number({"MaxJobsPA", "MaxJobsPerAccount"});
    q.submit_per_user = line.number({"MaxSubmitPU", "MaxSubmitJobsPU"});
    q.submit_per_account = line.number({"MaxSubmitPA", "MaxSubmitJobsPA"});
    dump_.qos.push_back(std::move(q));
  }

  void add_association(const Line& line) {
    const std::string_view account = line.get({"Account"});
    const std::string_view own = trim(account);
    const size_t depth =
        account.find_first_not_of(' ') == account.npos ? 0 : account.find_first_not_of(' ');
    if (dump_.cluster.empty()) dump_.cluster = trim(line.get({"Cluster"}));
    if (trim(line.get({"Cluster"})) != dump_.cluster)
      return;  // another cluster of the same slurmdbd
    Association a{.id = static_cast<int64_t>(dump_.associations.size()) + 1};
    a.account = own;
    a.user = trim(line.get({"User"}));
    a.partition = trim(line.get({"Partition"}));
    const std::string_view shares = trim(line.get({"Share", "Fairshare"}));
    a.shares = shares == "parent" ? -1 : parse_whole(shares).value_or(1);
    a.limits = limits_of(line);
    a.qos = sorted_names(line.get({"QOS"}));
    a.qos_default = trim(line.get({"Def QOS", "DefaultQOS"}));
    if (a.user.empty()) {
      parents_.push_back(std::string(trim(line.get({"Par Name", "ParentName"}))));
      depths_.push_back(depth);
      accounts_.push_back(dump_.associations.size());
      is_tree_ = is_tree_ || depth > 0;
    }
    dump_.associations.push_back(std::move(a));
  }

  void find_parents() {
    std::map<std::string, int64_t> ids;
    for (const size_t i : accounts_) ids[dump_.associations[i].account] = dump_.associations[i].id;
    std::vector<std::pair<size_t, int64_t>> above;  // depth and id
    for (size_t n = 0; n < accounts_.size(); ++n) {
      Association& a = dump_.associations[accounts_[n]];
      while (!above.empty() && above.back().first >= depths_[n]) above.pop_back();
      if (const auto named = ids.find(parents_[n]); named != ids.end() && named->second != a.id)
        a.parent = named->second;
      else if (is_tree_ && !above.empty())
        a.parent = above.back().second;
      above.emplace_back(depths_[n], a.id);
    }
    for (Association& a : dump_.associations)
      if (!a.user.empty() && ids.contains(a.account)) a.parent = ids[a.account];
  }

  SacctmgrDump& dump_;
  std::string name_;
  std::map<std::string, size_t, std::less<>> columns_;
  bool is_qos_ = false, is_tree_ = false;
  std::vector<size_t> accounts_;  // indices of associations that are accounts
  std::vector<std::string> parents_;
  std::vector<size_t> depths_;
};

}  // namespace

Result<void> add_sacctmgr_dump(SacctmgrDump& dump, std::string_view text, const std::string& name) {
  return Reader(dump, name).read(text);
}

}  // namespace fairlead::slurm

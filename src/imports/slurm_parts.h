// What the translation of Slurm's accounts keeps by itself: which TRES counts which class of
// devices, and what has no word in the language. Only slurm.cc includes this.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "imports/slurm.h"
#include "lang/units.h"

namespace fairlead::imports {

inline constexpr std::string_view kGpu = "gres/gpu", kGpuOf = "gres/gpu:";

inline std::string text_of(const Amounts& amounts) {
  std::string text;
  for (const auto& [tres, amount] : amounts)
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", tres, amount);
  return text;
}

// What of Slurm's limits has no word in the language.
class Leftovers {
 public:
  void tell(std::string_view name, int64_t limit) {
    if (limit >= 0) told_.push_back(fmt::format("{}={}", name, limit));
  }
  void tell_time(std::string_view name, int64_t limit_s) {
    if (limit_s >= 0)
      told_.push_back(fmt::format("{}={}", name, lang::to_literal(seconds(limit_s))));
  }
  void tell(std::string_view name, const Amounts& amounts) {
    if (!amounts.empty()) told_.push_back(fmt::format("{} {}", name, text_of(amounts)));
  }
  void add_shared(const Limits& l) {
    tell("GrpTRESMins", l.tres_minutes_group);
    tell("GrpTRESRunMins", l.tres_running_minutes_group);
    tell("MaxTRESPN", l.tres_per_node);
    tell("MaxTRESMinsPJ", l.tres_minutes_per_job);
    tell("GrpJobs", l.jobs_group);
    tell("GrpSubmit", l.submit_group);
    tell_time("GrpWall", l.wall_group_s);
    tell("MaxJobs", l.jobs_max);
    tell("MaxSubmit", l.submit_max);
  }
  bool empty() const { return told_.empty(); }
  std::string text() const { return fmt::format("{}", fmt::join(told_, ", ")); }

 private:
  std::vector<std::string> told_;
};

// Slurm counts `gres/gpu` over all models. Where it limits that and there are several, all of them
// are one class of devices, so that the limits mean the same.
class Devices {
 public:
  explicit Devices(const SlurmSays& says) {
    bool counts_all = false;
    std::set<std::string> models;
    for (const auto& [model, count] : says.models)
      if (!model.empty()) models.insert(model);
    const auto look = [&](const Amounts& amounts) {
      for (const auto& [tres, amount] : amounts) {
        counts_all = counts_all || tres == kGpu;
        if (tres.starts_with(kGpuOf)) models.insert(tres.substr(kGpuOf.size()));
      }
    };
    for (const Association& a : says.associations) look(a.limits.tres_group);
    for (const Qos& q : says.qos) look(q.limits.tres_per_job);
    if (models.size() > 1 && !counts_all) {
      for (const std::string& model : models) by_model_[model] = model_name(model);
    } else {
      all_ = models.size() == 1 ? model_name(*models.begin()) : "gpu";
      for (const std::string& model : models) by_model_[model] = all_;
    }
    for (const auto& [model, count] : says.models) {
      const auto own = by_model_.find(model);
      fleet_[own == by_model_.end() ? (all_.empty() ? "gpu" : all_) : own->second] += count;
    }
  }

  // The class that a TRES counts; empty where none does.
  std::string class_of(std::string_view tres) const {
    if (tres == kGpu) return all_;
    if (!tres.starts_with(kGpuOf)) return "";
    const auto own = by_model_.find(std::string(tres.substr(kGpuOf.size())));
    // One class of several models cannot tell one of them.
    return own == by_model_.end() || (own->second == "gpu" && by_model_.size() > 1) ? ""
                                                                                    : own->second;
  }
  const std::map<std::string, int64_t>& fleet() const { return fleet_; }

  std::vector<std::string> declared() const {
    std::map<std::string, std::vector<std::string>> models;
    if (!all_.empty()) models[all_];
    for (const auto& [model, name] : by_model_) models[name].push_back(model_name(model));
    std::vector<std::string> lines;
    for (auto& [name, list] : models) {
      if (list.empty()) list = {name};
      lines.push_back(fmt::format("{} {{ {} }}", name, fmt::join(list, ", ")));
    }
    return lines;
  }

 private:
  std::string all_;  // what counts every GPU; empty: nothing does
  std::map<std::string, std::string> by_model_;
  std::map<std::string, int64_t> fleet_;
};

}  // namespace fairlead::imports

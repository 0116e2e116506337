#include "adapters/slurm/poller.h"

#include <algorithm>

namespace fairlead::slurm {
namespace {

// Copies the steps, which are read on their own, into the jobs.
void count_steps(SlurmFacts& facts) {
  for (Job& job : facts.jobs) {
    const auto found = facts.steps.find(job.id);
    job.steps = holds_devices(job.state) && found != facts.steps.end() ? found->second : 0;
  }
}

}  // namespace

std::optional<Diagnostic> Poller::read(const std::vector<Part>& parts) {
  for (const Part part : parts) {
    hooks_.before_read(part);
    const Instant at = hooks_.now();
    const Result<bool> changed = reader_.read(part, facts_);
    const bool refused = !changed && changed.error().code == "slurm-refused" &&
                         part != Part::jobs && part != Part::nodes;
    pacer_.was_read(part, at, hooks_.now() - at, changed.has_value());
    refused_[part] = refused ? changed.error().message : std::string();
    if (changed)
      changed_[part] |= *changed;
    else if (!refused)
      return changed.error();
  }
  return std::nullopt;
}

std::string Poller::refusals() const {
  std::string text;
  for (const Part part : kParts) {
    if (refused_[part].empty()) continue;
    text += (text.empty() ? "" : "; ") + std::string(name_of(part)) +
            " not readable: " + refused_[part];
  }
  if (!facts_.note.empty()) text += (text.empty() ? "" : "; ") + facts_.note;
  return text;
}

std::vector<What> Poller::round() {
  // 1. read what is due; 2. read everything where the controller was started anew; 3. tell.
  const std::vector<Part> due = pacer_.due(hooks_.now());
  if (due.empty()) return {};
  auto problem = read(due);
  if (!problem && facts_.start_mark != start_mark_) {
    if (!start_mark_.empty()) {
      reader_.forget();
      problem = read({kParts.begin(), kParts.end()});
    }
    full_ = true;
  }
  if (problem) {
    reader_.forget();
    pacer_.hold_off(hooks_.now() + kRetryAfter);
    told_ = hooks_.now();
    return Differ::failed_poll(problem->message +
                               (problem->hint.empty() ? "" : "; " + problem->hint));
  }
  start_mark_ = facts_.start_mark;
  if (changed_[Part::jobs] || changed_[Part::steps]) count_steps(facts_);
  std::vector<What> events = differ_.poll(facts_, changed_, full_);
  const std::string missing = refusals();
  const bool news = full_ || missing != told_refusals_;
  if (news) std::get<PollEnded>(events.back()).detail = told_refusals_ = missing;
  full_ = false;
  changed_ = {};
  if (events.size() == 2 && hooks_.now() - told_ < kQuietMax) return {};
  told_ = hooks_.now();
  return events;
}

}  // namespace fairlead::slurm

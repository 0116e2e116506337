// Waiting work in a terminal: the queue, and why one workload waits.
#pragma once

#include <string>

#include "explain/blocker.h"
#include "present/layout.h"
#include "views/report.h"

namespace fairlead {

std::string queue_text(const Queue& queue, const TextOptions& options = {});
Table queue_table(const Queue& queue);  // for programs

std::string explanation_text(const Explanation& explanation, const TextOptions& options = {});
Table explanation_table(const Explanation& explanation);  // one row for each blocker, for programs

// "4198 4201 (search), idle 9901 (ads), 2 more"
std::string holders_text(const Blocker& blocker, size_t most);
// "by 18:00", "yes", "no", "not known"
std::string waiting_cures_text(const Blocker& blocker, Instant now);
std::string short_by_text(const Blocker& blocker);  // "3 nodes", "32 of 160 devices"

}  // namespace fairlead

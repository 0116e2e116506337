// The small languages inside Slurm's answers: amounts, GRES, task lists, times, states.
//
// The same texts come through libslurm, JSON and the commands, with two separators for GRES
// ("gres:gpu:h100:4" up to 22.05, "gres/gpu:h100:4" later); all forms are read alike. Nothing here
// trusts its input: a number that overflows or a text that is cut is refused, never guessed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/job.h"
#include "model/node.h"
#include "model/rules.h"

namespace fairlead::slurm {

constexpr int32_t kDeviceIndexMax = 4095;  // chosen: far above any node, small enough to hold

// Parts of `text` between `by`; nothing inside (…) or […] separates. An empty text has no parts.
std::vector<std::string_view> split(std::string_view text, char by);
std::vector<std::string> split_names(std::string_view text);  // "a,b" -> {"a","b"}

std::string_view trim(std::string_view text);

// Slurm's ways to say nothing, "(null)", "N/A", "None", "n/a", become the empty text.
std::string_view or_empty(std::string_view text);

std::optional<int64_t> parse_whole(std::string_view text);  // nothing beside digits and a sign

// "62.50G" -> 64000 for `unit` 'M'; "4" -> 4. Suffixes K, M, G, T, P count 1024 each. `unit` is the
// one that a bare number has: 'M' for memory, 0 for plain counts.
std::optional<int64_t> parse_amount(std::string_view text, char unit);

// "cpu=64,mem=62.50G,node=2,gres/gpu=8"; memory is in MB. What cannot be read is left out.
Amounts parse_tres(std::string_view text);

// The gpus of a node: "gpu:h100:8(S:0-1),gpu:a100:2", "gpu:8". Other GRES are skipped.
std::vector<DeviceGroup> parse_node_gres(std::string_view text);

// The gpus of a request: "gres:gpu:h100:4", "gres/gpu=1", "gpu:2,gres/gpu:a100:1"; a request
// without a number asks for one. Several models together have no model.
struct GresRequest {
  std::string model;
  int32_t count = 0;
  bool operator==(const GresRequest&) const = default;
};
GresRequest parse_gres_request(std::string_view text);

// The gpus that a job holds on one node: "gpu:h100:4(IDX:0-3,6)", "gpu:2(CNT:2)".
struct GresHeld {
  std::vector<int32_t> devices;  // ascending; empty where the text states no indices
  int32_t count = 0;
  bool operator==(const GresHeld&) const = default;
};
GresHeld parse_gres_held(std::string_view text);

// The tasks of an array's waiting record: "2-9%3", "1,3,5-9:2".
struct TaskList {
  int32_t count = 0;
  int32_t running_max = 0;
  bool cut = false;  // ends in "...": Slurm shortened it, so `count` is the least
  bool operator==(const TaskList&) const = default;
};
TaskList parse_tasks(std::string_view text);

// "2026-11-30T07:59:29" in UTC; "Unknown", "None", "N/A" and 0 are the zero Instant.
Instant parse_time(std::string_view text);

// "1-02:03:04", "02:03:04", "03:04", "UNLIMITED" (-1), "NONE" (-1); nothing if it is none of them.
std::optional<int64_t> parse_span_s(std::string_view text);

// A job's state: one base word and any flags.
struct JobWords {
  JobState base = JobState::unknown;
  bool completing = false;
  bool stopped = false;
  bool requeued = false;
};
void add_state_word(JobWords& words, std::string_view word);
JobState state_of(const JobWords& words);

// A node's state: "MIXED+DRAIN*", or one word of a list. Unknown words are skipped.
void add_state_words(Node& node, std::string_view words);

}  // namespace fairlead::slurm

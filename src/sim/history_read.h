// What the readers of all formats share: a builder that they fill, and how text becomes numbers.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sim/history.h"

namespace fairlead {

struct HistoryBuilder {
  History history;
  const HistoryOptions& options;
  const HistoryInput* input = nullptr;  // being read
  int64_t line = 0;                     // of the row being read
  // The inputs that a remark was made of, in the order of notes().remarks.
  std::vector<std::vector<const HistoryInput*>> remarked;

  explicit HistoryBuilder(const HistoryOptions& given) : options(given) {}
  HistoryNotes& notes() { return history.notes_; }
  RunTable& table() { return history.table_; }
  std::vector<AggregateRow>& aggregate() { return history.aggregate_; }
  std::vector<Node>& fleet() { return history.fleet_; }
  std::vector<HistoryInput>& journal() { return history.journal_; }
  // A note, once however often it is made; of several inputs it says how many it is of.
  void remark(std::string sentence);
  void count_remarks();  // at the end: says of each that was made of several inputs how many
  void skip(std::string_view reason, std::string_view row);  // counts a row that is left out
  void keep(HistoryRun run);
};

// A reader knows a format by its beginning and takes one input of it.
struct HistoryFormat {
  const char* name;
  bool (*matches)(std::string_view head);                              // the first part of the text
  Result<void> (*read)(HistoryBuilder& builder, HistoryInput& input);  // may take the text
};
std::span<const HistoryFormat> history_formats();

bool is_sacct_text(std::string_view text);
Result<void> read_sacct_text(HistoryBuilder& builder, HistoryInput& input);
bool is_sacct_json(std::string_view text);
Result<void> read_sacct_json(HistoryBuilder& builder, HistoryInput& input);
bool is_journal(std::string_view text);
Result<void> read_journal(HistoryBuilder& builder, HistoryInput& input);
bool is_swf(std::string_view text);
Result<void> read_swf(HistoryBuilder& builder, HistoryInput& input);
bool is_philly(std::string_view text);  // sim/paper_csv.cc
Result<void> read_philly(HistoryBuilder& builder, HistoryInput& input);
bool is_muri(std::string_view text);
Result<void> read_muri(HistoryBuilder& builder, HistoryInput& input);
bool is_chronus(std::string_view text);
Result<void> read_chronus(HistoryBuilder& builder, HistoryInput& input);
bool is_gavel(std::string_view text);
Result<void> read_gavel(HistoryBuilder& builder, HistoryInput& input);
bool is_dlrm(std::string_view text);
Result<void> read_dlrm(HistoryBuilder& builder, HistoryInput& input);
bool is_elasticflow(std::string_view text);  // sim/paper_trace.cc
Result<void> read_elasticflow(HistoryBuilder& builder, HistoryInput& input);
bool is_pollux(std::string_view text);  // and Sia
Result<void> read_pollux(HistoryBuilder& builder, HistoryInput& input);
bool is_gavel_trace(std::string_view text);
Result<void> read_gavel_trace(HistoryBuilder& builder, HistoryInput& input);
bool is_shockwave(std::string_view text);
Result<void> read_shockwave(HistoryBuilder& builder, HistoryInput& input);
bool is_openb_pods(std::string_view text);  // sim/openb_csv.cc
Result<void> read_openb_pods(HistoryBuilder& builder, HistoryInput& input);
bool is_openb_nodes(std::string_view text);
Result<void> read_openb_nodes(HistoryBuilder& builder, HistoryInput& input);
bool is_helios(std::string_view text);
Result<void> read_helios(HistoryBuilder& builder, HistoryInput& input);
bool is_own_csv(std::string_view text);
Result<void> read_own_csv(HistoryBuilder& builder, HistoryInput& input);

// Gives each openb pod that ran devices of the known fleet (sim/openb.cc).
void place_pods(HistoryBuilder& builder);

// The first line that is neither empty nor a comment; counts those it takes.
std::string_view take_header(std::string_view& text, int64_t& line_number);

// Refuses times that cannot be, and mends what every scheduler does by a second or two. Returns a
// reason, or nothing.
const char* settle_run(HistoryRun& run);

// --- text ----------------------------------------------------------------------------------------

inline namespace history_text {  // other readers have helpers of these names

// Takes the next line off `text`, without its end ("\n" or "\r\n").
std::string_view take_line(std::string_view& text);
// Takes the text up to `delimiter`, and the delimiter.
std::string_view take_field(std::string_view& line, char delimiter);
std::string_view without_blanks(std::string_view text);
std::string lower_case(std::string_view text);
std::optional<int64_t> whole_number(
    std::string_view text);  // none too large, no sign of anything else
std::optional<double> decimal_number(std::string_view text);

// A second since 1970, or 0 for a word that says there is none ("Unknown", "None", "N/A", empty).
// Nothing where it is neither. Civil times have `offset_s` taken off.
std::optional<int64_t> parse_time(std::string_view text, int64_t offset_s);
constexpr int64_t kHistorySecondMin = 315'532'800;    // 1980: a time before it is a broken row
constexpr int64_t kHistorySecondMax = 4'102'444'800;  // 2100

// "1-02:03:04", "02:03:04", "03:04"; -1 for "UNLIMITED", "Partition_Limit" and the like.
std::optional<int64_t> parse_slurm_span(std::string_view text);

// Devices of a list of trackable resources ("cpu=64,gres/gpu=8,gres/gpu:h100=8").
struct TresAmounts {
  int64_t devices = 0;
  std::string_view model;  // empty where none or several are named
  int64_t cpus = 0, nodes = 0;
  bool shards = false;  // shares of devices, whose size the dump does not state
};
std::optional<TresAmounts> parse_tres(std::string_view text);

// A word of sacct's State column ("CANCELLED by 1001", "TO"); unknown for a word we do not know.
struct StatedState {
  JobState state = JobState::unknown;
  RunEnd how = RunEnd::final;
};
StatedState parse_state(std::string_view word);

// Reads "4", "4_3", "4_[5-9%2]", "77+1" into the run. Returns whether it is a job's id; a step's
// ("4.batch") is none.
enum class JobName : uint8_t { job, step, neither };
JobName parse_job_id(std::string_view text, HistoryRun& run);

}  // namespace history_text

}  // namespace fairlead

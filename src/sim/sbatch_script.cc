#include "sim/sbatch_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/words.h"
#include "sim/sbatch_options.h"

namespace fairlead {
namespace {

const std::map<std::string_view, std::string_view> kLong = {
    {"-N", "--nodes"},    {"-G", "--gpus"},     {"-c", "--cpus-per-task"}, {"-t", "--time"},
    {"-A", "--account"},  {"-q", "--qos"},      {"-p", "--partition"},     {"-C", "--constraint"},
    {"-L", "--licenses"}, {"-w", "--nodelist"}, {"-x", "--exclude"},       {"-J", "--job-name"},
    {"-a", "--array"}};

// What says where a job may run; all else is passed over.
constexpr std::string_view kRead[] = {
    "--nodes",       "--gpus-per-node", "--gpus",     "--gres",      "--cpus-per-task",
    "--mem",         "--time",          "--account",  "--qos",       "--partition",
    "--reservation", "--constraint",    "--licenses", "--exclusive", "--time-min"};

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  std::string word;
  char quote = 0;
  bool any = false;
  for (const char c : line) {
    if (quote != 0) {
      if (c == quote)
        quote = 0;
      else
        word += c;
    } else if (c == '"' || c == '\'') {
      quote = c;
      any = true;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      if (any || !word.empty()) words.push_back(std::move(word));
      word.clear();
      any = false;
    } else if (c == '#' && word.empty() && !any) {
      break;
    } else {
      word += c;
    }
  }
  if (any || !word.empty()) words.push_back(std::move(word));
  return words;
}

class Script {
 public:
  Script(std::string_view source, std::string_view text) : source_(source), text_(text) {
    submission_.job.request.nodes_min = 1;
    submission_.job.request.nodes_max = 0;
  }

  Result<Job> read() {
    int line_number = 0;
    while (!text_.empty()) {
      ++line_number;
      const std::string_view line = text_.substr(0, text_.find('\n'));
      text_.remove_prefix(std::min(line.size() + 1, text_.size()));
      if (line.starts_with("#SBATCH")) {
        if (auto wrong = options(words_of(line.substr(7))); !wrong.empty())
          return fail("sbatch-bad", wrong, "write it as sbatch takes it",
                      {.source = std::string(source_), .line = line_number, .column = 1});
      } else if (!line.empty() && !line.starts_with('#') &&
                 line.find_first_not_of(" \t\r") != line.npos) {
        break;  // the first command: sbatch reads no further
      }
    }
    settle_sbatch_options(submission_);
    Job& job = submission_.job;
    JobRequest& r = job.request;
    if (r.nodes_max == 0) r.nodes_max = r.nodes_min;
    if (r.devices.per_node == 0 && r.nodes_min == 1 && r.nodes_max == 1)
      r.devices.per_node = r.devices.total;
    return job;
  }

 private:
  std::string options(const std::vector<std::string>& words) {
    for (size_t i = 0; i < words.size(); ++i) {
      std::string name = words[i], value;
      bool has_value = false;
      if (name.starts_with("--")) {
        if (const size_t equals = name.find('='); equals != name.npos) {
          value = name.substr(equals + 1);
          name.resize(equals);
          has_value = true;
        }
      } else if (name.size() >= 2 && name[0] == '-') {
        if (name.size() > 2) {
          value = name.substr(2);
          has_value = true;
        }
        name.resize(2);
        if (const auto known = kLong.find(name); known != kLong.end()) name = known->second;
      } else {
        continue;  // the value of an option that is passed over
      }
      const bool is_flag = name == "--exclusive";
      if (!has_value && !is_flag && i + 1 < words.size() && !words[i + 1].starts_with('-'))
        value = words[++i];
      if (auto wrong = take(name, value); !wrong.empty()) return wrong;
    }
    return "";
  }

  std::string take(const std::string& name, const std::string& value) {
    Job& job = submission_.job;
    if (name == "--job-name") job.name = value;
    if (name == "--nodelist") job.request.nodes_required = value;
    if (name == "--exclude") job.request.nodes_excluded = value;
    if (name == "--switches") return read_switches(value);
    if (name == "--gres" && !value.starts_with("gpu")) return "";
    if (std::ranges::find(kRead, name) == std::end(kRead)) return "";
    const std::string option = name == "--exclusive" ? name : name + "=" + value;
    const SbatchContext context{.now = {}, .id_of = [](std::string_view) { return std::nullopt; }};
    return read_sbatch_option(option, context, submission_);
  }
  std::string read_switches(std::string_view value) {
    int32_t count = 0;
    for (const char c : value.substr(0, value.find('@'))) {
      if (c < '0' || c > '9' || count > 1000) return "'--switches' has a value that cannot be read";
      count = count * 10 + (c - '0');
    }
    submission_.job.request.switches = count;
    return "";
  }

  std::string_view source_, text_;
  ModelSubmission submission_;
};

}  // namespace

Result<Job> read_sbatch_script(std::string_view source, std::string_view text) {
  return Script(source, text).read();
}

}  // namespace fairlead

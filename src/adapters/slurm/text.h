// The records that `scontrol show …` prints: "Key=value Key=value" on lines, a blank line between.
//
// Read in the form with several lines, where each free text (a job's name, comment, paths) has a
// line of its own: there a blank or an '=' in it cannot be taken for a field. Slurm escapes
// nothing, so a text with a line end in it can still look like fields or like a whole record. Such
// a record is `doubtful`: a key stands twice in it, or (for the caller to see) one that must be
// there does not.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fairlead::slurm {

class TextRecord {
 public:
  // The value of `key`; empty where it is absent, or one of Slurm's ways to say nothing.
  std::string_view get(std::string_view key) const;
  bool has(std::string_view key) const;
  bool doubtful() const { return doubtful_; }

  // The value of `key` on the lines that start with `first`, which may stand several times.
  struct Group {
    std::vector<std::pair<std::string_view, std::string_view>> fields;
    std::string_view get(std::string_view key) const;
  };
  std::vector<Group> groups;  // "Nodes=n001 CPU_IDs=0-3 Mem=4000 GRES=gpu:h100:4(IDX:0-3)"

 private:
  friend std::vector<TextRecord> parse_records(std::string_view text, std::string_view first_key);
  void add_line(std::string_view line);

  std::vector<std::pair<std::string_view, std::string_view>> fields_;
  bool doubtful_ = false;
};

// The records of `text`, each from a line that starts with "first_key=". What stands before the
// first is skipped. The views point into `text`.
std::vector<TextRecord> parse_records(std::string_view text, std::string_view first_key);

// "Key=value Key=value" -> pairs; a value lasts until the next " Key=".
std::vector<std::pair<std::string_view, std::string_view>> parse_fields(std::string_view line);

}  // namespace fairlead::slurm

// The texts that a document is made of, and places in them.
//
// A span is a range of bytes of one file, 12 bytes wide; line and column are worked out where a
// diagnostic needs them. Columns count characters, from 1.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::lang {

using FileId = uint32_t;

struct Span {
  FileId file = 0;
  uint32_t begin = 0;
  uint32_t end = 0;  // one past the last byte
  bool operator==(const Span&) const = default;
};

// From the first byte of `first` to the last of `last`. Requires: the same file, in order.
constexpr Span join(Span first, Span last) { return {first.file, first.begin, last.end}; }

struct Position {
  uint32_t line = 1;
  uint32_t column = 1;
  bool operator==(const Position&) const = default;
};

class SourceFile {
 public:
  SourceFile(std::string name, std::string text);

  const std::string& name() const { return name_; }
  std::string_view text() const { return text_; }
  Position position(uint32_t offset) const;
  std::string_view line(uint32_t number) const;  // without its end. Requires: the line is there.
  uint32_t lines() const { return static_cast<uint32_t>(starts_.size()); }

 private:
  std::string name_;
  std::string text_;
  std::vector<uint32_t> starts_;  // of each line
};

class Sources {
 public:
  // Requires: the text is no larger than kTextMax.
  FileId add(std::string name, std::string text);

  const SourceFile& file(FileId id) const { return files_.at(id); }
  size_t size() const { return files_.size(); }
  std::string_view text(Span span) const;
  Position begin_of(Span span) const { return file(span.file).position(span.begin); }
  Position end_of(Span span) const { return file(span.file).position(span.end); }

 private:
  std::deque<SourceFile> files_;  // a deque: tokens point into the texts
};

// Chosen: a hundred times the largest organisation file that we can imagine.
constexpr size_t kTextMax = size_t{16} << 20;

size_t characters(std::string_view utf8);  // a byte that is no UTF-8 counts as one

}  // namespace fairlead::lang

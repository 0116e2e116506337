#include "lang/source.h"

#include <algorithm>

#include "base/check.h"
#include "lang/utf8.h"

namespace fairlead::lang {

SourceFile::SourceFile(std::string name, std::string text)
    : name_(std::move(name)), text_(std::move(text)), starts_{0} {
  for (uint32_t i = 0; i < text_.size(); ++i)
    if (text_[i] == '\n') starts_.push_back(i + 1);
}

Position SourceFile::position(uint32_t offset) const {
  CHECK(offset <= text_.size());
  const auto after = std::ranges::upper_bound(starts_, offset);
  const auto line = static_cast<uint32_t>(after - starts_.begin());
  const uint32_t start = starts_[line - 1];
  const auto before = characters(std::string_view(text_).substr(start, offset - start));
  return {.line = line, .column = static_cast<uint32_t>(before) + 1};
}

std::string_view SourceFile::line(uint32_t number) const {
  CHECK(number >= 1 && number <= starts_.size());
  const uint32_t start = starts_[number - 1];
  std::string_view rest = std::string_view(text_).substr(start);
  rest = rest.substr(0, rest.find('\n'));
  if (rest.ends_with('\r')) rest.remove_suffix(1);
  return rest;
}

FileId Sources::add(std::string name, std::string text) {
  CHECK(text.size() <= kTextMax);
  files_.emplace_back(std::move(name), std::move(text));
  return static_cast<FileId>(files_.size() - 1);
}

std::string_view Sources::text(Span span) const {
  return file(span.file).text().substr(span.begin, span.end - span.begin);
}

size_t characters(std::string_view utf8) {
  size_t count = 0;
  for (; !utf8.empty(); ++count) utf8.remove_prefix(first_character(utf8).bytes);
  return count;
}

}  // namespace fairlead::lang

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "contest/match.h"

namespace fairlead::contest {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string_view take_to(std::string_view& text, char delimiter) {
  const size_t at = std::min(text.find(delimiter), text.size());
  const std::string_view part = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return part;
}

constexpr int32_t kNodesMost = 1'000'000, kEachMost = 1024;  // chosen: beyond any fleet

std::optional<int32_t> number(std::string_view text, int32_t most) {
  int32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 1 || value > most)
    return std::nullopt;
  return value;
}

// "32 x 8 H100", "32 nodes of 8 H100"
std::optional<FleetPart> part_of(std::string_view text) {
  FleetPart part;
  text = trimmed(text);
  std::string_view nodes = trimmed(take_to(text, ' '));
  if (const size_t x = nodes.find('x'); x != nodes.npos) {  // 32x8 H100
    const auto n = number(nodes.substr(0, x), kNodesMost),
               e = number(nodes.substr(x + 1), kEachMost);
    if (!n || !e) return std::nullopt;
    return FleetPart{.nodes = *n, .each = *e, .model = std::string(trimmed(text))};
  }
  text = trimmed(text);
  if (text.starts_with("nodes of ")) {
    text.remove_prefix(9);
  } else if (text.starts_with("x ")) {
    text.remove_prefix(2);
  } else {
    return std::nullopt;
  }
  text = trimmed(text);
  const auto n = number(nodes, kNodesMost);
  const auto e = number(trimmed(take_to(text, ' ')), kEachMost);
  if (!n || !e) return std::nullopt;
  return FleetPart{.nodes = *n, .each = *e, .model = std::string(trimmed(text))};
}

std::optional<FleetPart> row_of(std::string_view line) {
  const auto n = number(trimmed(take_to(line, ',')), kNodesMost);
  const auto e = number(trimmed(take_to(line, ',')), kEachMost);
  if (!n || !e) return std::nullopt;
  return FleetPart{.nodes = *n, .each = *e, .model = std::string(trimmed(line))};
}

}  // namespace

Result<std::vector<FleetPart>> read_fleet(std::string_view text, const std::string& source) {
  std::vector<FleetPart> fleet;
  bool table = false;
  int number_of_line = 0;
  const auto refuse = [&](std::string_view what) {
    return fail("fleet-bad", fmt::format("'{}' is no part of a fleet", what),
                "nodes x devices model: \"32 x 8 H100, 16 x 4 A100\", or a table nodes,gpus,model",
                {.source = source, .line = number_of_line, .column = 1});
  };
  while (!text.empty()) {
    ++number_of_line;
    std::string_view line = take_to(text, '\n');
    line = trimmed(take_to(line, '#'));
    if (line.empty()) continue;
    if (line == "nodes,gpus,model") {
      table = true;
      continue;
    }
    while (!line.empty()) {
      const std::string_view piece = trimmed(table ? std::exchange(line, {}) : take_to(line, ','));
      const auto part = table ? row_of(piece) : part_of(piece);
      if (!part) return refuse(piece);
      fleet.push_back(*part);
    }
  }
  if (fleet.empty()) return refuse("");
  return fleet;
}

std::string to_text(const std::vector<FleetPart>& fleet) {
  std::string out;
  for (const FleetPart& part : fleet)
    out += fmt::format("{}{} x {}{}{}", out.empty() ? "" : ", ", part.nodes, part.each,
                       part.model.empty() ? "" : " ", part.model);
  return out;
}

}  // namespace fairlead::contest

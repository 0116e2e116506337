#include "present/yaml.h"

#include <simdjson.h>

#include "codec/json.h"

namespace fairlead {
namespace {

namespace dom = simdjson::dom;

// Plain where YAML reads it back as the same text, quoted as JSON otherwise (a subset of YAML).
std::string scalar(std::string_view text) {
  const bool plain =
      !text.empty() &&
      text.find_first_not_of(
          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./") == text.npos &&
      ((text[0] >= 'a' && text[0] <= 'z') || (text[0] >= 'A' && text[0] <= 'Z'));
  static constexpr std::string_view kWords[] = {"true", "false", "null", "yes", "no",
                                                "on",   "off",   "y",    "n"};
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  const bool word = std::ranges::find(kWords, lower) != std::end(kWords);
  if (plain && !word) return std::string(text);
  std::string quoted;
  json::quote(quoted, text);
  return quoted;
}

void write(std::string& out, const dom::element& value, size_t indent, bool in_list);

void write_object(std::string& out, const dom::object& object, size_t indent, bool in_list) {
  bool first = true;
  for (const auto field : object) {
    if (!(first && in_list)) out += std::string(indent, ' ');
    first = false;
    out += scalar(field.key);
    out += ':';
    write(out, field.value, indent + 2, false);
  }
}

void write_list(std::string& out, const dom::array& array, size_t indent) {
  for (const auto element : array) {
    out += std::string(indent, ' ') + "-";
    write(out, element, indent + 2, true);
  }
}

void write(std::string& out, const dom::element& value, size_t indent, bool in_list) {
  dom::object object;
  dom::array array;
  std::string_view text;
  if (!value.get(object) && object.size() != 0) {
    out += in_list ? " " : "\n";
    write_object(out, object, indent, in_list);
  } else if (!value.get(array) && array.size() != 0) {
    out += '\n';
    write_list(out, array, in_list ? indent : indent - 2);
  } else if (!value.get(text)) {
    out += " " + scalar(text) + "\n";
  } else {
    out += " " + std::string(simdjson::minify(value)) + "\n";
  }
}

}  // namespace

Result<std::string> json_to_yaml(std::string_view text) {
  dom::parser parser;
  dom::element document;
  if (parser.parse(simdjson::padded_string(text)).get(document))
    return fail("json-bad", "not JSON");
  std::string out;
  write(out, document, 0, true);
  out.erase(0, 1);  // the blank before a first member
  return out;
}

}  // namespace fairlead

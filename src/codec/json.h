// JSON of any described struct, both ways.
//
// Two styles. *Records* (events, snapshots) leave out members that have their default value, so
// that a fleet's worth stays small, and write instants as whole microseconds. *Views* (what people
// and programs ask for) write every member and instants as RFC 3339 text, null where not known.
// Reading takes both, takes a missing member as its default and skips members it does not know (a
// newer writer may state more). Enums are their names; a member `klass` is written "class". A wrong
// type is refused with its path: "job.request.nodes_min: expected a whole number".
#pragma once

#include <simdjson.h>

#include <charconv>
#include <string>

#include "base/describe.h"
#include "base/result.h"

namespace fairlead::json {

namespace od = simdjson::ondemand;

void quote(std::string& out, std::string_view text);  // valid JSON for any bytes

enum class Style { record, view };

inline std::string_view key_of(const char* member) {
  return std::string_view(member) == "klass" ? "class" : std::string_view(member);
}

template <class T>
void write(std::string& out, const T& value, Style style = Style::record) {
  if constexpr (std::is_same_v<T, bool>) {
    out += value ? "true" : "false";
  } else if constexpr (std::is_same_v<T, Instant>) {
    if (style == Style::record)
      write(out, value.us);
    else if (value.known())
      quote(out, to_rfc3339(value));
    else
      out += "null";
  } else if constexpr (std::is_same_v<T, Duration>) {
    write(out, value.us);
  } else if constexpr (std::is_integral_v<T>) {
    char digits[24];
    out.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
  } else if constexpr (DescribedEnum<T>) {
    quote(out, enum_name(value));
  } else if constexpr (std::is_convertible_v<T, std::string_view>) {
    quote(out, value);
  } else if constexpr (kIsOptional<T>) {
    if (value)
      write(out, *value, style);
    else
      out += "null";
  } else if constexpr (kIsVector<T>) {
    out += '[';
    bool comma = false;
    for (const auto& item : value) {
      if (comma) out += ',';
      comma = true;
      write(out, item, style);
    }
    out += ']';
  } else if constexpr (kIsMap<T>) {
    out += '{';
    bool comma = false;
    for (const auto& [key, item] : value) {
      if (comma) out += ',';
      comma = true;
      if constexpr (std::is_convertible_v<decltype(key), std::string_view>)
        quote(out, key);
      else
        quote(out, std::to_string(key));
      out += ':';
      write(out, item, style);
    }
    out += '}';
  } else {
    static const T kDefault{};
    out += '{';
    bool comma = false;
    boost::mp11::mp_for_each<Members<T>>([&](auto member) {
      const auto& field = value.*member.pointer;
      if (style == Style::record && field == kDefault.*member.pointer) return;
      if (comma) out += ',';
      comma = true;
      quote(out, key_of(member.name));
      out += ':';
      write(out, field, style);
    });
    out += '}';
  }
}

template <class T>
std::string to_json(const T& value, Style style = Style::record) {
  std::string out;
  write(out, value, style);
  return out;
}

// A record may have members that a newer program wrote; a question may not have any we do not know.
enum class Unknown : uint8_t { skipped, refused };

// Where a reader is, for messages; and the first thing it could not take.
struct Reading {
  Unknown unknown = Unknown::skipped;
  std::string path;
  std::string problem;  // empty while all is well
  bool fail(std::string_view want) {
    if (problem.empty()) problem = (path.empty() ? "$" : path) + ": expected " + std::string(want);
    return false;
  }
  bool fail_unknown(std::string_view key, const std::vector<std::string>& known);
};

// Names a member or element for the time of a call.
class PathStep {
 public:
  PathStep(Reading& reading, std::string_view name)
      : reading_(reading), size_(reading.path.size()) {
    if (size_ != 0) reading_.path += '.';
    reading_.path += name;
  }
  ~PathStep() { reading_.path.resize(size_); }
  PathStep(const PathStep&) = delete;
  PathStep& operator=(const PathStep&) = delete;

 private:
  Reading& reading_;
  size_t size_;
};

template <class T>
bool read(od::value value, T& out, Reading& reading);

bool read_instant(od::value value, Instant& out, Reading& reading);  // a number, a text or null

template <class T>
std::vector<std::string> keys_of() {
  std::vector<std::string> keys;
  boost::mp11::mp_for_each<Members<T>>(
      [&](auto member) { keys.emplace_back(key_of(member.name)); });
  return keys;
}

template <class T>
bool read_members(od::object object, T& out, Reading& reading) {
  for (auto field : object) {
    std::string_view key;
    od::value inner;
    if (field.unescaped_key().get(key) || field.value().get(inner)) return reading.fail("JSON");
    bool good = true, known = false;
    boost::mp11::mp_for_each<Members<T>>([&](auto member) {
      if (known || key != key_of(member.name)) return;
      known = true;
      const PathStep step(reading, member.name);
      good = read(inner, out.*member.pointer, reading);
    });
    if (!good) return false;
    if (!known && reading.unknown == Unknown::refused)
      return reading.fail_unknown(key, keys_of<T>());
  }
  return true;
}

template <class T>
bool read(od::value value, T& out, Reading& reading) {
  if constexpr (std::is_same_v<T, bool>) {
    return !value.get_bool().get(out) || reading.fail("true or false");
  } else if constexpr (std::is_same_v<T, Instant>) {
    return read_instant(value, out, reading);
  } else if constexpr (std::is_same_v<T, Duration>) {
    return read(value, out.us, reading);
  } else if constexpr (std::is_same_v<T, uint64_t>) {
    return !value.get_uint64().get(out) || reading.fail("a whole number");
  } else if constexpr (std::is_integral_v<T>) {
    int64_t number = 0;
    if (value.get_int64().get(number)) return reading.fail("a whole number");
    if (!std::in_range<T>(number)) return reading.fail("a smaller number");
    out = static_cast<T>(number);
    return true;
  } else if constexpr (DescribedEnum<T>) {
    std::string_view name;
    if (value.get_string().get(name)) return reading.fail("a word");
    const auto known = enum_of_name<T>(name);
    if (!known) return reading.fail("a word we know, not '" + std::string(name) + "'");
    out = *known;
    return true;
  } else if constexpr (std::is_same_v<T, std::string>) {
    std::string_view text;
    if (value.get_string().get(text)) return reading.fail("a text");
    out.assign(text);
    return true;
  } else if constexpr (kIsOptional<T>) {
    bool null = false;
    if (value.is_null().get(null)) return reading.fail("a value");
    if (null) {
      out.reset();
      return true;
    }
    return read(value, out.emplace(), reading);
  } else if constexpr (kIsVector<T>) {
    od::array array;
    if (value.get_array().get(array)) return reading.fail("a list");
    out.clear();
    for (auto element : array) {
      od::value inner;
      const PathStep step(reading, std::to_string(out.size()));
      if (element.get(inner)) return reading.fail("JSON");
      typename T::value_type item{};
      if (!read(inner, item, reading)) return false;
      out.push_back(std::move(item));
    }
    return true;
  } else if constexpr (kIsMap<T>) {
    od::object object;
    if (value.get_object().get(object)) return reading.fail("an object");
    out.clear();
    for (auto field : object) {
      std::string_view key;
      od::value inner;
      if (field.unescaped_key().get(key) || field.value().get(inner)) return reading.fail("JSON");
      const PathStep step(reading, key);
      typename T::key_type own{};
      if constexpr (std::is_same_v<typename T::key_type, std::string>) {
        own.assign(key);
      } else {
        const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), own);
        if (error != std::errc{} || end != key.data() + key.size())
          return reading.fail("a number as key");
      }
      typename T::mapped_type item{};
      if (!read(inner, item, reading)) return false;
      out.insert_or_assign(std::move(own), std::move(item));
    }
    return true;
  } else {
    od::object object;
    if (value.get_object().get(object)) return reading.fail("an object");
    return read_members(object, out, reading);
  }
}

// Reads one JSON document into `T`. Fails with json-bad, json-wrong-type.
template <class T>
Result<T> from_json(std::string_view text) {
  static thread_local od::parser parser;
  const simdjson::padded_string padded(text);
  od::document document;
  od::value value;
  if (const auto error = parser.iterate(padded).get(document);
      error || document.get_value().get(value)) {
    return fairlead::fail("json-bad", "not a JSON object or list");
  }
  T out{};
  Reading reading;
  if (!read(value, out, reading)) return fairlead::fail("json-wrong-type", reading.problem);
  if (!document.current_location().error())
    return fairlead::fail("json-bad", "more text after the JSON document");
  return out;
}

}  // namespace fairlead::json

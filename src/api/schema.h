// JSON Schemas of described structs: what json::write makes of them in the style of views.
//
// Every struct becomes a component under its own name; a member that is a struct refers to it. All
// members are required, because views write them all, and there may be more one day. Of what is
// asked none is, and no others are taken; instants are microseconds there, as in events.
#pragma once

#include <fmt/format.h>

#include <boost/core/demangle.hpp>
#include <map>
#include <string>

#include "base/describe.h"
#include "codec/json.h"

namespace fairlead {

enum class SchemaOf : uint8_t { answer, question };

using Components = std::map<std::string, std::string>;  // JSON of each by its name

template <class T, SchemaOf kOf>
std::string component_name() {
  const std::string name = boost::core::demangle(typeid(T).name());
  return name.substr(name.rfind(':') + 1) + (kOf == SchemaOf::question ? "Asked" : "");
}

// Returns the schema of a T as JSON, and adds the components that it refers to.
template <class T, SchemaOf kOf = SchemaOf::answer>
std::string schema_of(Components& components) {
  constexpr bool kAsked = kOf == SchemaOf::question;
  if constexpr (std::is_same_v<T, bool>) {
    return R"({"type":"boolean"})";
  } else if constexpr (std::is_same_v<T, Instant>) {
    return kAsked ? R"({"type":"integer","description":"microseconds since 1970"})"
                  : R"({"type":["string","null"],"format":"date-time"})";
  } else if constexpr (std::is_same_v<T, Duration> || std::is_integral_v<T>) {
    return R"({"type":"integer"})";
  } else if constexpr (DescribedEnum<T>) {
    std::string words;
    boost::mp11::mp_for_each<boost::describe::describe_enumerators<T>>([&](auto enumerator) {
      words += words.empty() ? "" : ",";
      json::quote(words, enumerator.name);
    });
    return fmt::format(R"({{"type":"string","enum":[{}]}})", words);
  } else if constexpr (std::is_convertible_v<T, std::string_view>) {
    return R"({"type":"string"})";
  } else if constexpr (kIsOptional<T>) {
    return fmt::format(R"({{"anyOf":[{},{{"type":"null"}}]}})",
                       schema_of<typename T::value_type, kOf>(components));
  } else if constexpr (kIsVector<T>) {
    return fmt::format(R"({{"type":"array","items":{}}})",
                       schema_of<typename T::value_type, kOf>(components));
  } else if constexpr (kIsMap<T>) {
    return fmt::format(R"({{"type":"object","additionalProperties":{}}})",
                       schema_of<typename T::mapped_type, kOf>(components));
  } else {
    const std::string name = component_name<T, kOf>();
    if (components.try_emplace(name, "").second) {
      std::string properties, required;
      boost::mp11::mp_for_each<Members<T>>([&](auto member) {
        using Member = std::remove_cvref_t<decltype(std::declval<T>().*member.pointer)>;
        std::string key;
        json::quote(key, json::key_of(member.name));
        const std::string comma = properties.empty() ? "" : ",";
        properties += comma + key + ":" + schema_of<Member, kOf>(components);
        required += comma + key;
      });
      components[name] =
          kAsked ? fmt::format(
                       R"({{"type":"object","properties":{{{}}},"additionalProperties":false}})",
                       properties)
                 : fmt::format(R"({{"type":"object","properties":{{{}}},"required":[{}]}})",
                               properties, required);
    }
    return fmt::format(R"({{"$ref":"#/components/schemas/{}"}})", name);
  }
}

}  // namespace fairlead

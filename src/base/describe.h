// One description of a plain struct serves its text form, its digest and its comparison.
//
// A model struct states its members once, with BOOST_DESCRIBE_STRUCT, and an enum its enumerators
// with BOOST_DESCRIBE_ENUM; codec/json.h and core's digest walk them in that order.
#pragma once

#include <boost/describe.hpp>
#include <boost/mp11.hpp>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "base/digest.h"
#include "base/time.h"

namespace fairlead {

template <class T>
concept Described = boost::describe::has_describe_members<T>::value && !std::is_union_v<T>;
template <class T>
concept DescribedEnum = boost::describe::has_describe_enumerators<T>::value;

template <class T>
using Members = boost::describe::describe_members<T, boost::describe::mod_public>;

// Calls f(name, member) for each described member of `value`, in order.
template <class T, class F>
  requires Described<std::remove_const_t<T>>
void for_each_member(T& value, F&& f) {
  boost::mp11::mp_for_each<Members<std::remove_const_t<T>>>(
      [&](auto member) { f(member.name, value.*member.pointer); });
}

template <DescribedEnum E>
const char* enum_name(E value) {
  return boost::describe::enum_to_string(value, "unknown");
}

template <DescribedEnum E>
std::optional<E> enum_of_name(std::string_view name) {
  E value{};
  if (!boost::describe::enum_from_string(std::string(name).c_str(), value)) return std::nullopt;
  return value;
}

template <class T>
inline constexpr bool kIsVector = false;
template <class T>
inline constexpr bool kIsVector<std::vector<T>> = true;
template <class T>
inline constexpr bool kIsMap = false;
template <class K, class V>
inline constexpr bool kIsMap<std::map<K, V>> = true;
template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

template <class T>
void fold(Hasher& hasher, const T& value) {
  if constexpr (std::is_same_v<T, Instant> || std::is_same_v<T, Duration>) {
    hasher.add(static_cast<uint64_t>(value.us));
  } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
    static_assert(!std::is_floating_point_v<T>, "state holds whole numbers only");
    hasher.add(static_cast<uint64_t>(value));
  } else if constexpr (std::is_convertible_v<T, std::string_view>) {
    hasher.add(std::string_view(value));
  } else if constexpr (kIsVector<T>) {
    hasher.add(static_cast<uint64_t>(value.size()));
    for (const auto& item : value) fold(hasher, item);
  } else if constexpr (kIsMap<T>) {
    hasher.add(static_cast<uint64_t>(value.size()));
    for (const auto& [key, item] : value) {
      fold(hasher, key);
      fold(hasher, item);
    }
  } else if constexpr (kIsOptional<T>) {
    hasher.add(static_cast<uint64_t>(value.has_value()));
    if (value) fold(hasher, *value);
  } else {
    for_each_member(value, [&](const char*, const auto& member) { fold(hasher, member); });
  }
}

}  // namespace fairlead

#include "adapters/slurm/rest_json.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "adapters/slurm/words.h"
#include "base/digest.h"

namespace fairlead::slurm {
namespace {

// A whole number in either shape. -1 is v0.0.38's way to say that there is no limit.
std::optional<int64_t> whole(Json value) {
  int64_t n = 0;
  if (value.get_int64().get(n) == simdjson::SUCCESS) return n;
  double d = 0;
  if (value.is_double() && value.get_double().get(d) == simdjson::SUCCESS && std::abs(d) < 9e18)
    return static_cast<int64_t>(d);
  bool set = false, infinite = false;
  if (value["set"].get_bool().get(set) != simdjson::SUCCESS) return std::nullopt;
  if (value["infinite"].get_bool().get(infinite) == simdjson::SUCCESS && infinite)
    return std::nullopt;
  simdjson::dom::element inner;
  if (!set || value["number"].get(inner) != simdjson::SUCCESS) return std::nullopt;
  return whole(inner);
}

}  // namespace

std::optional<Json> member(Json from, std::string_view path) {
  for (const std::string_view step : split(path, '.')) {
    if (from[step].get(from) != simdjson::SUCCESS) return std::nullopt;
  }
  return from;
}

int64_t number(Json from, std::string_view path, int64_t none) {
  const auto value = member(from, path);
  return value ? whole(*value).value_or(none) : none;
}

std::vector<std::string> words(Json from, std::string_view path) {
  const auto value = member(from, path);
  if (!value) return {};
  std::string_view one;
  if (value->get_string().get(one) == simdjson::SUCCESS) return split_names(or_empty(one));
  simdjson::dom::array list;
  std::vector<std::string> out;
  if (value->get_array().get(list) != simdjson::SUCCESS) return out;
  for (const Json item : list) {
    if (item.get_string().get(one) == simdjson::SUCCESS && !one.empty()) out.emplace_back(one);
  }
  return out;
}

std::string text(Json from, std::string_view path) {
  const auto value = member(from, path);
  std::string_view one;
  if (!value) return {};
  if (value->get_string().get(one) == simdjson::SUCCESS) return std::string(one);
  std::string joined;
  for (const std::string& word : words(from, path)) joined += (joined.empty() ? "" : ",") + word;
  return joined;
}

bool flag(Json from, std::string_view path) {
  const auto value = member(from, path);
  bool out = false;
  return value && value->get_bool().get(out) == simdjson::SUCCESS && out;
}

Instant instant(Json from, std::string_view path) {
  const int64_t s = number(from, path);
  return s <= 0 || s > 253'402'300'799 ? Instant{} : instant_of_seconds(s);  // up to the year 9999
}

Amounts amounts(Json from, std::string_view path) {
  Amounts out;
  const auto value = member(from, path);
  simdjson::dom::array list;
  if (!value || value->get_array().get(list) != simdjson::SUCCESS) return out;
  for (const Json item : list) {
    const std::string type = text(item, "type"), name = text(item, "name");
    const int64_t count = number(item, "count", -1);
    if (!type.empty() && count >= 0) out[name.empty() ? type : type + "/" + name] = count;
  }
  return out;
}

int64_t association_id(std::string_view account, std::string_view user,
                       std::string_view partition) {
  Hasher hasher;
  hasher.add(account);
  hasher.add(user);
  hasher.add(partition);
  return static_cast<int64_t>(hasher.digest().value >> 12 |
                              1);  // 52 bits: also whole in a JSON reader's double
}

}  // namespace fairlead::slurm

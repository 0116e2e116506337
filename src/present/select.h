// Which rows of a list, and in which order: --filter, --sort and --limit of every view.
//
// A row is a described struct. Its fields are called as in JSON, "gpu_seconds.useful" where one
// lies inside another, and by the last word alone where that is clear. A filter is a field, one of
// = != < > and a value; all filters must hold. A list such as `blockers` is equal to each of its
// words. What is counted is sorted with the most first and what is named from A to Z; ":asc" and
// ":desc" say otherwise. Equal rows keep their order.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/describe.h"
#include "base/result.h"
#include "codec/json.h"

namespace fairlead {

struct RowQuery {
  std::vector<std::string> filters;  // "team=research", "wait_us>2h"
  std::string sort;                  // "wait_us", "team:desc"
  std::optional<size_t> limit;
  bool empty() const { return filters.empty() && sort.empty() && !limit; }
};

struct RowField {
  enum class Kind : uint8_t { text, number, instant, list };
  std::string key;
  Kind kind = Kind::text;
  int64_t number = 0;              // of a number, and of an instant in microseconds
  std::vector<std::string> words;  // one, but of a list any number
};
using RowFields = std::vector<RowField>;

// The fields of a row, in the order in which they are described. Lists of structs are left out.
template <class T>
void add_fields(RowFields& out, const std::string& key, const T& value) {
  using Kind = RowField::Kind;
  if constexpr (std::is_same_v<T, bool>) {
    out.push_back({key, Kind::text, 0, {value ? "true" : "false"}});
  } else if constexpr (std::is_same_v<T, Instant>) {
    out.push_back({key, Kind::instant, value.us, {value.known() ? to_rfc3339(value) : ""}});
  } else if constexpr (std::is_integral_v<T>) {
    out.push_back({key, Kind::number, static_cast<int64_t>(value), {std::to_string(value)}});
  } else if constexpr (DescribedEnum<T>) {
    out.push_back({key, Kind::text, 0, {enum_name(value)}});
  } else if constexpr (std::is_convertible_v<T, std::string_view>) {
    out.push_back({key, Kind::text, 0, {std::string(value)}});
  } else if constexpr (kIsOptional<T>) {  // nothing is no limit, and so the most
    if (value)
      add_fields(out, key, *value);
    else
      out.push_back({key, Kind::number, INT64_MAX, {""}});
  } else if constexpr (kIsVector<T>) {
    using Item = typename T::value_type;
    if constexpr (DescribedEnum<Item> || std::is_convertible_v<Item, std::string_view>) {
      RowField field{key, Kind::list, 0, {}};
      for (const Item& item : value) {
        if constexpr (DescribedEnum<Item>)
          field.words.push_back(enum_name(item));
        else
          field.words.emplace_back(item);
      }
      out.push_back(std::move(field));
    }
  } else if constexpr (Described<T>) {
    boost::mp11::mp_for_each<Members<T>>([&](auto member) {
      const std::string inner(json::key_of(member.name));
      add_fields(out, key.empty() ? inner : key + "." + inner, value.*member.pointer);
    });
  }
}

// Returns the numbers of the rows to show, in their order. `known` are the fields of any such row,
// and `own_name` is what "name" is called, too ("user"). Fails with field-unknown, filter-bad.
Result<std::vector<size_t>> chosen_rows(const std::vector<RowFields>& rows, const RowFields& known,
                                        const RowQuery& query, std::string_view own_name);

// Keeps of `rows` what the query asks for. Returns how many the limit left out. Fails as above.
template <class Row>
Result<size_t> select(std::vector<Row>& rows, const RowQuery& query,
                      std::string_view own_name = {}) {
  if (query.empty()) return 0;
  if (query.filters.empty() && query.sort.empty()) {
    const size_t left_out = rows.size() - std::min(rows.size(), *query.limit);
    rows.resize(rows.size() - left_out);
    return left_out;
  }
  RowFields known;
  add_fields(known, "", Row{});
  std::vector<RowFields> fields(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) add_fields(fields[i], "", rows[i]);
  const auto chosen = chosen_rows(fields, known, query, own_name);
  if (!chosen) return std::unexpected(chosen.error());
  std::vector<Row> kept;
  for (const size_t i : *chosen) {
    if (query.limit && kept.size() == *query.limit) break;
    kept.push_back(std::move(rows[i]));
  }
  rows = std::move(kept);
  return chosen->size() - rows.size();
}

}  // namespace fairlead

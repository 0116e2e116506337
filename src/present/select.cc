#include "present/select.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/words.h"

namespace fairlead {
namespace {

using Kind = RowField::Kind;

std::unexpected<Diagnostic> bad_filter(const std::string& filter, std::string why) {
  return fail("filter-bad", fmt::format("filter '{}': {}", filter.substr(0, 80), why),
              "--filter team=research, or --filter 'gpus>8'");
}

// The place of the field in every row. A word that ends one key alone is that key.
Result<size_t> place_of(std::string_view name, const RowFields& known, std::string_view own_name) {
  std::vector<size_t> ends_so;
  std::vector<std::string> keys;
  for (size_t i = 0; i < known.size(); ++i) {
    const std::string& key = known[i].key;
    if (key == name || (key == "name" && name == own_name)) return i;
    if (key.ends_with("." + std::string(name))) ends_so.push_back(i);
    keys.push_back(key == "name" && !own_name.empty() ? std::string(own_name) : key);
  }
  if (ends_so.size() == 1) return ends_so[0];
  return fail("field-unknown",
              fmt::format("{} field '{}'", ends_so.empty() ? "no row has a" : "more than one is a",
                          name.substr(0, 80)),
              hint_for_unknown(name, keys));
}

std::optional<int64_t> number_of(std::string_view text) {
  int64_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return n;
}

// What a field of a number or of time is compared with: "8", "2h" of a key in time, an instant.
std::optional<int64_t> operand_of(const RowField& field, const std::string& text) {
  if (field.kind == Kind::instant) {
    const auto at = parse_rfc3339(text.size() == 10 ? text + "T00:00:00Z" : text);
    return at ? std::optional(at->us) : std::nullopt;
  }
  if (const auto n = number_of(text)) return n;
  const auto span = parse_duration(text);
  if (!span) return std::nullopt;
  if (field.key.ends_with("_us") || field.key.contains("_us.")) return span->us;
  return whole_seconds(*span);
}

struct Filter {
  size_t field = 0;
  char op = '=';
  bool negated = false;
  std::string text;
  int64_t number = 0;

  bool holds(const RowFields& row) const {
    const RowField& f = row[field];
    if (op == '<') return f.number < number;
    if (op == '>') return f.number > number;
    const bool equal = f.kind == Kind::number || (f.kind == Kind::instant && !text.empty())
                           ? f.number == number
                           : std::ranges::find(f.words, text) != f.words.end() ||
                                 (text.empty() && f.words.empty());
    return equal != negated;
  }
};

Result<Filter> filter_of(const std::string& text, const RowFields& known,
                         std::string_view own_name) {
  const size_t at = text.find_first_of("=<>!");
  if (at == text.npos || at == 0) return bad_filter(text, "it has no field and value");
  Filter filter{.op = text[at] == '!' ? '=' : text[at], .negated = text[at] == '!'};
  if (filter.negated && text.substr(at, 2) != "!=") return bad_filter(text, "'!' stands for '!='");
  const auto field = place_of(std::string_view(text).substr(0, at), known, own_name);
  if (!field) return std::unexpected(field.error());
  filter.field = *field;
  filter.text = text.substr(at + (filter.negated ? 2 : 1));
  const RowField& f = known[*field];
  const bool counted = f.kind == Kind::number || f.kind == Kind::instant;
  if (!counted && filter.op != '=') return bad_filter(text, f.key + " is no number");
  if (!counted || (f.kind == Kind::instant && filter.text.empty() && filter.op == '='))
    return filter;
  const auto number = operand_of(f, filter.text);
  if (!number) return bad_filter(text, "'" + filter.text + "' cannot be compared with " + f.key);
  filter.number = *number;
  return filter;
}

struct Order {
  size_t field = 0;
  bool most_first = false;
};

Result<Order> order_of(const std::string& sort, const RowFields& known, std::string_view own_name) {
  const size_t colon = sort.rfind(':');
  const std::string way = colon == sort.npos ? "" : sort.substr(colon + 1);
  if (colon != sort.npos && way != "asc" && way != "desc") {
    return fail("filter-bad", fmt::format("'{}' is no way to sort", way), ":asc or :desc");
  }
  const auto field = place_of(std::string_view(sort).substr(0, colon), known, own_name);
  if (!field) return std::unexpected(field.error());
  return Order{.field = *field,
               .most_first = way.empty() ? known[*field].kind == Kind::number : way == "desc"};
}

}  // namespace

Result<std::vector<size_t>> chosen_rows(const std::vector<RowFields>& rows, const RowFields& known,
                                        const RowQuery& query, std::string_view own_name) {
  std::vector<Filter> filters;
  for (const std::string& text : query.filters) {
    auto filter = filter_of(text, known, own_name);
    if (!filter) return std::unexpected(filter.error());
    filters.push_back(std::move(*filter));
  }
  std::vector<size_t> chosen;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (std::ranges::all_of(filters, [&](const Filter& f) { return f.holds(rows[i]); }))
      chosen.push_back(i);
  }
  if (query.sort.empty()) return chosen;
  const auto order = order_of(query.sort, known, own_name);
  if (!order) return std::unexpected(order.error());
  std::ranges::sort(chosen, [&](size_t a, size_t b) {
    const RowField& left = rows[a][order->field];
    const RowField& right = rows[b][order->field];
    const auto way = std::tie(left.number, left.words) <=> std::tie(right.number, right.words);
    if (way == 0) return a < b;
    return order->most_first ? way > 0 : way < 0;
  });
  return chosen;
}

}  // namespace fairlead

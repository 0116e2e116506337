// Quantities: whole counts of a fixed base unit of each dimension.
//
// A literal must be exact in the base unit (`0.1us` is refused) and fit 63 bits. Nothing here or
// above it is floating point, so two machines always agree.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace fairlead::lang {

enum class Dimension : uint8_t {
  time,          // microsecond              us ms s m h d w
  data,          // byte                     B kB MB GB TB PB KiB MiB GiB TiB
  data_rate,     // byte per second          900GB/s
  tokens,        // token                    tok ktok Mtok
  token_rate,    // 1/1000 token per second  400ktok/s
  money,         // 1/1,000,000 dollar       $12
  money_rate,    // the same, per hour       $160/h
  device_price,  // the same, per gpu, hour  $3.20/gpu/h
  ratio,         // part per million         95%
  count,         // 1/1,000,000 of one       8, 2k, 1M, 1.85
  temperature,   // 1/1000 C
  power,         // 1/1000 W
  energy,        // 1/1000 Wh
  mass,          // 1/1000 g
  carbon,        // 1/1000 g per kWh
};

// "a time", "an amount of money"
std::string_view described(Dimension dimension);

struct Quantity {
  int64_t value = 0;
  Dimension dimension = Dimension::count;
  auto operator<=>(const Quantity&) const = default;
};

enum class QuantityError : uint8_t { not_a_number, unknown_unit, not_exact, too_large };

// `text` is a token: integer, number or quantity.
std::expected<Quantity, QuantityError> read_quantity(std::string_view text);

// The unit in `text`, "" where it has none: "400msec" -> "msec", "$3/h" -> "/h".
std::string_view unit_of(std::string_view text);

// The unit that was probably meant, or an empty text.
std::string nearest_unit(std::string_view unit);

// Digits with `_` between them. Returns nothing where the number does not fit.
std::optional<int64_t> read_integer(std::string_view text);

// The shortest exact literal: 90s, 2m, 7d; weeks are not used, people count days.
std::string to_literal(Duration duration);
std::string money_literal(int64_t micro_dollars);  // $120000, $3.20

}  // namespace fairlead::lang

#include "lang/units.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace fairlead::lang {
namespace {

TEST(Units, AreWholeCountsOfABaseUnit) {
  using enum Dimension;
  const std::tuple<std::string_view, int64_t, Dimension> rows[] = {
      {"400ms", 400'000, time},
      {"1.5h", 5'400'000'000, time},
      {"2w", 1'209'600'000'000, time},
      {"80GiB", 85'899'345'920, data},
      {"900GB/s", 900'000'000'000, data_rate},
      {"400ktok/s", 400'000'000, token_rate},
      {"$120000", 120'000'000'000, money},
      {"$3.20/gpu/h", 3'200'000, device_price},
      {"99.5%", 995'000, ratio},
      {"8", 8'000'000, count},
      {"2k", 2'000'000'000, count},
      {"1.85", 1'850'000, count},
      {"200g/kWh", 200'000, carbon},
      {"1_000s", 1'000'000'000, time},
      {"9223372036854775807us", INT64_MAX, time},
  };
  for (const auto& [text, value, dimension] : rows) {
    SCOPED_TRACE(text);
    EXPECT_EQ(read_quantity(text), (Quantity{value, dimension}));
  }
}

TEST(Units, RefuseWhatIsNotExactOrTooLarge) {
  using enum QuantityError;
  const std::pair<std::string_view, QuantityError> rows[] = {
      {"0.1us", not_exact},
      {"$0.0000001", not_exact},
      {"0.0000000000000000001s", not_exact},
      {"9223372036854775808us", too_large},
      {"99999999999999999999999999999999999999999999s", too_large},
      {"900000000w", too_large},
      {"400msec", unknown_unit},
      {"$3/s", unknown_unit},
      {"1m30s", unknown_unit},
      {"1.2.3s", not_a_number},
      {"$", not_a_number},
  };
  for (const auto& [text, want] : rows) {
    SCOPED_TRACE(text);
    const auto read = read_quantity(text);
    ASSERT_FALSE(read.has_value());
    EXPECT_EQ(read.error(), want);
  }
}

TEST(Units, TrailingZerosChangeNothing) {
  EXPECT_EQ(read_quantity("1.5000000000000000000000000000s"), read_quantity("1500ms"));
}

TEST(Units, IntegersStopAtSixtyThreeBits) {
  EXPECT_EQ(read_integer("9223372036854775807"), INT64_MAX);
  EXPECT_EQ(read_integer("9223372036854775808"), std::nullopt);
  EXPECT_EQ(read_integer("_"), std::nullopt);
  EXPECT_EQ(read_integer("1_000"), 1000);
}

RC_GTEST_PROP(Units, ALiteralReadsBackAsItself, ()) {
  const int64_t us = *rc::gen::inRange<int64_t>(0, INT64_MAX);
  const int64_t rounded = us - us % *rc::gen::element<int64_t>(1, 1000, 60'000'000, 86'400'000'000);
  RC_ASSERT(read_quantity(to_literal({rounded})).value() == (Quantity{rounded, Dimension::time}));
  RC_ASSERT(read_quantity(money_literal(us)).value() == (Quantity{us, Dimension::money}));
}

}  // namespace
}  // namespace fairlead::lang

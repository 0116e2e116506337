// What nearly every pure file and its test include.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <boost/describe.hpp>
#include <boost/mp11.hpp>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <ranges>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

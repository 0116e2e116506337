// What nearly every pure file includes.
#include <fmt/format.h>

#include <algorithm>
#include <boost/describe.hpp>
#include <boost/mp11.hpp>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

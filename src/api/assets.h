// The console's files, built into the binary (cmake/assets.cmake makes the table from web/dist).
#pragma once

#include <span>
#include <string_view>

namespace fairlead {

struct Asset {
  std::string_view path;  // "/index.html"
  std::string_view type;  // content type
  std::string_view etag;
  std::string_view raw, gzip;
};

std::span<const Asset> assets();

}  // namespace fairlead

// A file of the public data, packed by gzip or plain.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>

namespace fairlead {

// Empty where it cannot be read.
inline std::string unpacked(const std::string& path) {
  std::string out;
  FILE* pipe = popen(fmt::format("gzip -dcf '{}' 2>/dev/null", path).c_str(), "r");
  char buffer[1 << 16];
  for (size_t n; pipe != nullptr && (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    out.append(buffer, n);
  if (pipe != nullptr) pclose(pipe);
  return out;
}

}  // namespace fairlead

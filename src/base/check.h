// CHECK: our own mistake stops the process, in every build.
//
// Bad input is never a CHECK: it gets a Diagnostic (base/result.h).
#pragma once

#include <cstdio>
#include <cstdlib>

namespace fairlead {

[[noreturn]] inline void check_failed(const char* what, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: CHECK failed: %s\n", file, line, what);
  std::abort();
}

}  // namespace fairlead

#define CHECK(condition) \
  ((condition) ? void(0) : ::fairlead::check_failed(#condition, __FILE__, __LINE__))

#include "apps/output.h"

#include <gtest/gtest.h>

namespace fairlead {
namespace {

struct ExitRow {
  std::string_view code;
  int want;
};

TEST(Output, EveryKindOfProblemHasItsExitCode) {
  const ExitRow rows[] = {
      {"usage", kExitUsage},
      {"since-bad", kExitUsage},
      {"listen-bad", kExitUsage},
      {"parameter-unknown", kExitUsage},
      {"config-not-allowed", kExitRefused},
      {"config-unknown-key", kExitRefused},
      {"listen-not-allowed", kExitNotAllowed},
      {"net-not-allowed", kExitNotAllowed},
      {"file-not-allowed", kExitNotAllowed},
      {"store-not-writable", kExitNotAllowed},
      {"http-403", kExitNotAllowed},
      {"listen-in-use", kExitUnreachable},
      {"listen-failed", kExitUnreachable},
      {"net-refused", kExitUnreachable},
      {"lock-held", kExitUnreachable},
      {"slurm-none", kExitUnreachable},
      {"store-io", kExitUnreachable},
      {"store-foreign", kExitRefused},
      {"history-empty", kExitRefused},
      {"json-bad", kExitRefused},
  };
  for (const ExitRow& row : rows) EXPECT_EQ(exit_code_of(row.code), row.want) << row.code;
}

}  // namespace
}  // namespace fairlead

#include "adapters/slurm/command.h"

#include <gtest/gtest.h>

namespace fairlead::slurm {
namespace {

TEST(Command, GivesOutputAndExitCode) {
  const auto got = run_command(
      {.words = {"sh", "-c", "printf %s \"$X\"; echo no >&2; exit 3"}, .environment = {"X=a b"}});
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(got->out, "a b");
  EXPECT_EQ(got->err, "no\n");
  EXPECT_EQ(got->exit_code, 3);
}

TEST(Command, WhatTakesTooLongIsEndedWithAllItStarted) {
  const auto got = run_command({.words = {"sh", "-c", "sleep 60 & sleep 60"}, .timeout = {50'000}});
  ASSERT_FALSE(got.has_value());
  EXPECT_EQ(got.error().code, "command-timeout");
}

TEST(Command, TooMuchOutputIsRefused) {
  const auto got = run_command(
      {.words = {"sh", "-c", "while :; do echo xxxxxxxxxxxxxxxx; done"}, .output_max = 100'000});
  ASSERT_FALSE(got.has_value());
  EXPECT_EQ(got.error().code, "command-output-max");
}

TEST(Command, AMissingProgramIsSaid) {
  const auto got = run_command({.words = {"no-such-program-here"}});
  ASSERT_FALSE(got.has_value());
  EXPECT_EQ(got.error().code, "command-not-found");
}

}  // namespace
}  // namespace fairlead::slurm

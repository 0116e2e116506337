// Runs a test of an organisation file by the planner, in a time of its own.
//
// The test begins with what runs and what waits, and nothing ends by itself. The planner looks at
// the beginning, when `reclaim for-waiting` has waited, and at each time that an expectation names.
// What was admitted runs on, what was preempted waits again. Limits are those outside every
// `during` window, and nobody has used anything before.
#pragma once

#include <string>
#include <vector>

#include "lang/diagnostic.h"
#include "policy/organisation.h"
#include "policy/tree.h"

namespace fairlead::policy {

enum class TestOutcome : uint8_t { passed, failed, not_run };
BOOST_DESCRIBE_ENUM(TestOutcome, passed, failed, not_run)

struct TestResult {
  TestOutcome outcome = TestOutcome::passed;
  std::string why_not_run;          // what this version cannot show
  std::vector<std::string> events;  // "5m  preempt r2 for p1  rule own"
  lang::Diagnostics failures;       // E820, at the expectation that does not hold
};

// Requires: the test and the organisation were checked, without an error.
TestResult run_test(const Organisation& organisation, const TestNode& test);

}  // namespace fairlead::policy

// fairlead policy test: the tests in the files, run by the planner.
#include <fmt/format.h>

#include "apps/policy_input.h"
#include "policy/test_run.h"
#include "present/table.h"

namespace fairlead {
namespace {

struct PolicyTest {
  std::string title, outcome, why_not_run;
  std::vector<std::string> events;
  std::vector<lang::PlacedDiagnostic> failures;
  bool operator==(const PolicyTest&) const = default;
};
BOOST_DESCRIBE_STRUCT(PolicyTest, (), (title, outcome, why_not_run, events, failures))

struct PolicyTests {
  std::string apiVersion = "fairlead/v1", kind = "PolicyTests";
  int64_t passed = 0, failed = 0, not_run = 0;
  std::vector<PolicyTest> tests;
  bool operator==(const PolicyTests&) const = default;
};
BOOST_DESCRIBE_STRUCT(PolicyTests, (), (apiVersion, kind, passed, failed, not_run, tests))

std::string outcome_text(const std::string& outcome) {
  return outcome == "not_run" ? "not run" : outcome;
}

// What a test that passed did is shown where a wide table is asked for.
std::string text_of(const PolicyTests& view, bool wide) {
  std::string out;
  for (const PolicyTest& t : view.tests) {
    out += fmt::format("{:<8} {}{}\n", outcome_text(t.outcome), t.title,
                       t.why_not_run.empty() ? "" : ": " + t.why_not_run);
    if (t.outcome == "passed" && !wide) continue;
    for (const std::string& event : t.events) out += "         " + event + "\n";
  }
  return out +
         fmt::format("{} passed, {} failed, {} not run\n", view.passed, view.failed, view.not_run);
}

Table table_of(const PolicyTests& view) {
  Table t{.columns = {{"test"}, {"outcome"}, {"why"}}, .rows = {}};
  for (const PolicyTest& test : view.tests)
    t.rows.push_back({test.title, outcome_text(test.outcome),
                      test.failures.empty() ? test.why_not_run : test.failures[0].message});
  return t;
}

}  // namespace

// Exit code 1 where a test fails; 3 where one could not be run, so that nobody takes it for a pass.
int run_policy_tests(Program& p, const PolicyArguments& a) {
  const auto loaded = load_good_policy(a);
  if (!loaded) return complain(loaded.error());
  PolicyTests view;
  std::string told;
  for (const policy::TestNode& node : loaded->checked.tree.tests) {
    const auto result = policy::run_test(loaded->checked.organisation, node);
    using enum policy::TestOutcome;
    ++(result.outcome == passed   ? view.passed
       : result.outcome == failed ? view.failed
                                  : view.not_run);
    view.tests.push_back(
        {node.title.value, enum_name(result.outcome), result.why_not_run, result.events, {}});
    for (const auto& failure : result.failures) {
      told += to_text(failure, loaded->sources);
      view.tests.back().failures.push_back(placed(failure, loaded->sources));
    }
  }
  const auto text = [&](const PolicyTests& v, const TextOptions& o) {
    std::fwrite(told.data(), 1, told.size(), stderr);
    return text_of(v, o.wide);
  };
  const int code =
      print_view(view, p.output, text, [](const PolicyTests& v) { return table_of(v); }, kNoRows);
  if (code != kExitGood) return code;
  return view.failed > 0 ? kExitFound : view.not_run > 0 ? kExitUnreachable : kExitGood;
}

}  // namespace fairlead

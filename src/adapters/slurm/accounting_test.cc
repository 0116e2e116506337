#include "adapters/slurm/accounting.h"

#include <gtest/gtest.h>

namespace fairlead::slurm {
namespace {

// As Slurm 22.05 prints it for accounting_words(); the first lines are real ones of the lab.
constexpr const char* kPrinted =
    "1|1|root|root|normal|all|REQUEUED|1796045096|1796045096|1796045096|1796045099|60|1|"
    "billing=1,cpu=1,gres/gpu=1,mem=1000M,node=1|"
    "billing=1,cpu=1,gres/gpu:h100=1,gres/gpu=1,mem=1000M,node=1|0:0|n001\n"
    "4|3+1|root|root|normal|all|COMPLETED|1796045096|1796045096|1796045096|1796045097|60|1|"
    "billing=1,cpu=1,gres/gpu=2,mem=1000M,node=1|"
    "billing=1,cpu=1,gres/gpu:h100=2,gres/gpu=2,mem=1000M,node=1|0:0|n002\n"
    "6|2_1|bob|vision|spot|a100|FAILED|1796045090|1796045096|1796045095|1796045097|UNLIMITED|2|"
    "billing=1,cpu=1,gres/gpu=16,mem=1000M,node=2|"
    "billing=1,cpu=1,gres/gpu:a100=8,gres/gpu:h100=8,gres/gpu=16,mem=1000M,node=2|3:0|n[001-002]\n"
    "8|8|root|root|normal|all|CANCELLED by 0|1796045113|Unknown|1796045113|1796045113|60|1|"
    "billing=1,cpu=1,gres/gpu=1,mem=1000M,node=1||0:9|None assigned\n";

TEST(Accounting, RowsAreRunsInTheOrderOfTheirStarts) {
  const AccountedRuns told = parse_accounting(kPrinted);
  ASSERT_EQ(told.runs.size(), 4U);
  EXPECT_EQ(told.unreadable, 0);
  const Job& task = told.runs[0].job;
  EXPECT_EQ(task.id, 6U);
  EXPECT_EQ(task.label, "2_1");
  EXPECT_EQ(task.array.id, 2U);
  EXPECT_EQ(task.array.task, 1);
  EXPECT_EQ(task.state, JobState::failed);
  EXPECT_EQ(task.exit_code, 3);
  EXPECT_EQ(task.request.devices, (DeviceRequest{.total = 16}));  // two models: none is named
  EXPECT_EQ(task.request.time_limit_s, -1);
  EXPECT_EQ(task.nodes, "n[001-002]");
  const Job& requeued = told.runs[1].job;
  EXPECT_EQ(requeued.id, 1U);
  EXPECT_EQ(requeued.state, JobState::pending);
  EXPECT_TRUE(requeued.requeued);
  EXPECT_EQ(requeued.end, instant_of_seconds(1796045099));
  const Job& component = told.runs[2].job;
  EXPECT_EQ(component.het_id, 3U);
  EXPECT_EQ(component.het_offset, 1);
  EXPECT_EQ(component.request.devices, (DeviceRequest{.model = "h100", .per_node = 2, .total = 2}));
  const Job& never = told.runs[3].job;
  EXPECT_EQ(never.state, JobState::cancelled);
  EXPECT_FALSE(never.start.known());
  EXPECT_EQ(never.exit_code, 128 + 9);
}

TEST(Accounting, ARowThatCannotBeReadIsCounted) {
  const std::string row(kPrinted, std::string_view(kPrinted).find('\n'));
  for (const std::string& bad :
       {std::string("1|1|root"), "x" + row, row + "|more", std::string("1||||||RUNNING||||||||||"),
        "99999999999" + row.substr(1)}) {
    const AccountedRuns told = parse_accounting(bad + "\n" + row + "\n");
    EXPECT_EQ(told.unreadable, 1) << bad;
    EXPECT_EQ(told.runs.size(), 1U) << bad;
  }
}

TEST(Accounting, TheWindowStaysOpenUntilWhatWasHeldBackMustHaveCome) {
  const Instant start = instant_of_seconds(100'000);
  AccountingWindow window(start);
  window.looked(start + seconds(10), false);
  window.looked(start + seconds(7200), true);
  EXPECT_EQ(window.from(), start) << "slurmctld may hand its backlog over later than this look";
  window.looked(start + seconds(7200) + kAccountingOverlap, true);
  EXPECT_EQ(window.from(), start);
  const Instant well = start + seconds(7201) + kAccountingOverlap;
  window.looked(well, true);
  EXPECT_EQ(window.from(), well - kAccountingOverlap);
  window.looked(well + seconds(60), false);
  window.looked(well + seconds(120), true);
  EXPECT_EQ(window.from(), well - kAccountingOverlap);
}

TEST(Accounting, AsksInUtcForWhatIsOver) {
  const auto words = accounting_words(instant_of_seconds(1796045096));
  const auto since = std::ranges::find(words, "-S");
  ASSERT_NE(since, words.end());
  EXPECT_EQ(since[1], "2026-11-30T13:24:56");
}

}  // namespace
}  // namespace fairlead::slurm

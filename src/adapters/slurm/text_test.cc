#include "adapters/slurm/text.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "adapters/slurm/text_jobs.h"

namespace fairlead::slurm {
namespace {

// A job as `scontrol -d show job` prints it, with `name` and `comment` as its user chose them.
std::string job_text(int id, const std::string& name, const std::string& comment,
                     const std::string& user = "ana(1001)") {
  return "JobId=" + std::to_string(id) + " JobName=" + name + "\n   UserId=" + user +
         " GroupId=ana(1001) MCS_label=N/A\n   Priority=1 Nice=0 Account=vision QOS=batch\n"
         "   JobState=RUNNING Reason=None Dependency=(null)\n   SubmitTime=2026-11-30T07:59:29 "
         "EligibleTime=2026-11-30T07:59:29\n"
         "   Partition=all AllocNode:Sid=host:1\n   NodeList=n001\n   NumNodes=1 NumCPUs=1 "
         "NumTasks=1 CPUs/Task=1\n"
         "   WorkDir=/tmp\n   Comment=" +
         comment + "\n   StdOut=/dev/null\n   Power=\n   \n\n";
}

TEST(Text, OddNamesAndCommentsAreJustText) {
  for (const std::string text : {"odd  UserId=root(0) Account=x", "a=b", "", "\xff\xfe\x01",
                                 "quote\" \\ 'x'", "JobId=9 JobName=y", "(nul"}) {
    SCOPED_TRACE(text);
    const auto parsed = parse_jobs(job_text(4242, text, text));
    ASSERT_EQ(parsed.records.size(), 1U);
    EXPECT_EQ(parsed.unreadable, 0);
    EXPECT_EQ(parsed.records[0].name, text);
    EXPECT_EQ(parsed.records[0].comment, text);
    EXPECT_EQ(parsed.records[0].user, "ana");
    EXPECT_EQ(parsed.records[0].account, "vision");
  }
}

TEST(Text, AReasonMayBeginASentence) {
  struct Row {
    std::string told, want, want_text;
  };
  const Row rows[] = {
      {"Priority", "Priority", ""},
      {"ReqNodeNotAvail,_UnavailableNodes:n032", "ReqNodeNotAvail",
       "ReqNodeNotAvail, UnavailableNodes:n032"},
      {"Nodes_required_for_job_are_DOWN,_DRAINED", "", "Nodes required for job are DOWN, DRAINED"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.told);
    std::string text = job_text(1, "x", "");
    text.replace(text.find("Reason=None"), 11, "Reason=" + row.told);
    const auto parsed = parse_jobs(text);
    ASSERT_EQ(parsed.records.size(), 1U);
    EXPECT_EQ(parsed.records[0].reason, row.want);
    EXPECT_EQ(parsed.records[0].reason_text, row.want_text);
  }
}

struct ForgedRow {
  std::string_view name;
  std::string text;
  int64_t want_unreadable;
  std::vector<uint32_t> want;  // ids that are read
};

// Slurm prints line ends in names and comments as they are.
TEST(Text, NothingForgedIsTaken) {
  const std::string forged = job_text(5, "y", "z", "bob(1002)");
  const ForgedRow rows[] = {
      {"fields in a name", job_text(1, "x\n   UserId=bob(1002)", ""), 1, {}},
      {"fields in a comment", job_text(1, "x", "y\n   JobState=COMPLETED"), 1, {}},
      {"a cut record in a name", job_text(1, "x\n\nJobId=5 JobName=y", ""), 1, {5}},
      {"another's id", job_text(1, "x\n\nJobId=5 JobName=y", "") + forged, 3, {}},
      {"a blank line in a comment", job_text(1, "x", "y\n\n\nz"), 0, {1}},
      {"a record not after a blank line", job_text(1, "x\nJobId=5 JobName=y", ""), 1, {5}},
      {"two honest ones", job_text(1, "x", "") + job_text(2, "x", ""), 0, {1, 2}},
  };
  for (const ForgedRow& row : rows) {
    SCOPED_TRACE(row.name);
    const auto parsed = parse_jobs(row.text);
    EXPECT_EQ(parsed.unreadable, row.want_unreadable);
    std::vector<uint32_t> ids;
    for (const Job& job : parsed.records) ids.push_back(job.id);
    EXPECT_EQ(ids, row.want);
  }
}

TEST(Text, ACutAnswerLosesOnlyItsLastRecord) {
  const std::string two = job_text(1, "x", "") + job_text(2, "y", "");
  const size_t first = job_text(1, "x", "").size();
  const auto parsed = parse_jobs(std::string_view(two).substr(0, first + 200));
  ASSERT_EQ(parsed.records.size(), 1U);
  EXPECT_EQ(parsed.unreadable, 1);
}

TEST(Text, AnIdThatOverflowsIsNoId) {
  std::string text = job_text(1, "x", "");
  text.replace(text.find("JobId=1 "), 8, "JobId=4294967297 ");
  EXPECT_EQ(parse_jobs(text).unreadable, 1);
  EXPECT_TRUE(parse_jobs(text).records.empty());
}

TEST(Text, SaysNoJobsWithNoRecords) {
  EXPECT_TRUE(parse_jobs("No jobs in the system\n").records.empty());
  EXPECT_EQ(parse_jobs("No jobs in the system\n").unreadable, 0);
}

TEST(Text, SplitsFieldsAtKeysOnly) {
  const auto fields = parse_fields("   ReqB:S:C:T=0:0:*:* CPUs/Task=8 Partitions=a b=c D=e");
  ASSERT_EQ(fields.size(), 4U);
  EXPECT_EQ(fields[1].first, "CPUs/Task");
  EXPECT_EQ(fields[2].second, "a b=c");
}

RC_GTEST_PROP(Text, AnyTextIsRead, (const std::string& text)) {
  parse_jobs("JobId=1 JobName=" + text);
  parse_nodes("NodeName=" + text);
  parse_jobs(text);
}

}  // namespace
}  // namespace fairlead::slurm

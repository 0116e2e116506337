#include "core/job_forms.h"

#include <gtest/gtest.h>

#include "core/test_nodes.h"

namespace fairlead {
namespace {

// Behind a reservation in an hour: what may be over by then starts with as much time as is left.
TEST(JobForms, AShorterLimitThatItAcceptsIsCutToWhatIsLeft) {
  for (const int64_t least_s : {int64_t{0}, int64_t{1800}, int64_t{3590}, int64_t{6000}}) {
    SCOPED_TRACE(least_s);
    SiteOfEights site(2);
    site.run(10, "n1", 8);  // for an hour, since second 5
    site.wait(1, 2, 8);     // has the reservation
    Job& ours = site.wait(2, 1, 8);
    ours.submit = at_second(2);
    ours.request.time_limit_s = 4 * 3600;
    ours.request.time_min_s = least_s;
    const auto decisions = site.poll(10);
    const Suggestion* start = site.suggested(2, SuggestionKind::start);
    ASSERT_EQ(start != nullptr, least_s == 1800);
    if (start == nullptr) continue;
    ASSERT_EQ(decisions.size(), 1u);
    EXPECT_TRUE(decisions[0].reason.starts_with(
        "2 would start now on n2 with a time limit of 59m, likely to end by "))
        << decisions[0].reason;
  }
}

// The only node goes into maintenance in an hour.
TEST(JobForms, AShorterLimitIsOverWhenAMaintenanceBegins) {
  for (const int64_t least_s : {int64_t{0}, int64_t{1800}, int64_t{6000}}) {
    SCOPED_TRACE(least_s);
    SiteOfEights site(1);
    Job& ours = site.wait(1, 1, 8);
    ours.request.time_limit_s = 4 * 3600;
    ours.request.time_min_s = least_s;
    site.add(Reservation{
        .name = "maint", .start = at_second(3640), .end = at_second(9000), .nodes = {"n1"}});
    const auto decisions = site.poll(10);
    const Suggestion* start = site.suggested(1, SuggestionKind::start);
    ASSERT_EQ(start != nullptr, least_s == 1800);
    if (start == nullptr) continue;
    ASSERT_EQ(decisions.size(), 1u);
    EXPECT_TRUE(decisions[0].reason.starts_with("1 would start now on n1 with a time limit of 1h"))
        << decisions[0].reason;
    site.poll(300);
    EXPECT_NE(site.suggested(1, SuggestionKind::start), nullptr);
    site.poll(1900);
    EXPECT_EQ(site.suggested(1, SuggestionKind::start), nullptr) << "too little is left";
  }
}

// And one node does not: there it starts with all the time that it asks for.
TEST(JobForms, NothingIsShortenedWhereItStartsAsItAsks) {
  SiteOfEights site(2);
  Job& ours = site.wait(1, 1, 8);
  ours.request.time_limit_s = 4 * 3600;
  ours.request.time_min_s = 1800;
  site.add(Reservation{
      .name = "maint", .start = at_second(3640), .end = at_second(9000), .nodes = {"n1"}});
  const auto decisions = site.poll(10);
  ASSERT_EQ(decisions.size(), 1u);
  EXPECT_EQ(decisions[0].reason, "1 would start now on n2");
}

TEST(JobForms, NothingIsShortenedWhereNobodyIsInTheWay) {
  SiteOfEights site(2);
  Job& ours = site.wait(2, 1, 8);
  ours.request.time_min_s = 600;
  const auto decisions = site.poll(10);
  ASSERT_EQ(decisions.size(), 1u);
  EXPECT_EQ(decisions[0].reason, "2 would start now on n1");
}

}  // namespace
}  // namespace fairlead

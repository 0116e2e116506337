#include "present/top_text.h"

#include <gtest/gtest.h>

#include "present/sample_report.h"

namespace fairlead {
namespace {

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

TEST(Top, FitsEveryScreen) {
  Report report = sample_report();
  for (int i = 0; i < 40; ++i) report.waiting.push_back(report.waiting[0]);
  for (const int width : {20, 40, 80, 200}) {
    for (const int height : {1, 5, 12, 24, 60}) {
      SCOPED_TRACE(testing::Message() << width << " x " << height);
      const auto lines = top_lines(report, {.text = {.width = width}, .height = height});
      EXPECT_LE(lines.size(), static_cast<size_t>(height));
      for (const std::string& line : lines)
        EXPECT_LE(display_width(line), static_cast<size_t>(width)) << line;
    }
  }
}

TEST(Top, ALargeScreenShowsMoreRows) {
  Report report = sample_report();
  for (int i = 0; i < 100; ++i) report.waiting.push_back(report.waiting[0]);
  const auto small = top_lines(report, {.height = 24}), large = top_lines(report, {.height = 70});
  EXPECT_EQ(small.size(), 24u);
  EXPECT_EQ(large.size(), 70u);
}

TEST(Top, ASmallScreenShowsWhatWaits) {
  const std::string text = joined(top_lines(sample_report(), {.height = 9}));
  EXPECT_FALSE(text.contains("Teams")) << text;
  EXPECT_TRUE(text.contains("Waiting")) << text;
}

TEST(Top, ShowsTeamsIdleHoldsAndWhatWaits) {
  const std::string text = joined(top_lines(sample_report(), {.height = 40}));
  for (const char* word : {"Teams", "research", "Idle holds", "4242", "Waiting", "q quit"})
    EXPECT_TRUE(text.contains(word)) << word << "\n" << text;
  EXPECT_FALSE(text.contains('\x1b'));
}

TEST(Top, TellsWhatTeamsHoldBesideWhatTheyOwnAndClassesWhereAsked) {
  Report report = sample_report();
  EXPECT_FALSE(joined(top_lines(report, {.height = 40})).contains(" own ")) << "nobody says";
  report.teams[0].held_gpus = 12'345;
  report.teams[0].own_gpus = 9'876;
  const std::string teams = joined(top_lines(report, {.height = 40}));
  EXPECT_TRUE(teams.contains(" own ") && teams.contains("12,345  9,876")) << teams;
  report.classes = {{.name = "urgent"}};
  const std::string classes = joined(top_lines(report, {.height = 40, .by_class = true}));
  EXPECT_TRUE(classes.contains("Classes") && classes.contains("urgent")) << classes;
  EXPECT_FALSE(classes.contains("Teams")) << classes;
}

TEST(Top, SaysWhatIsWrongInPlaceOfTheKeys) {
  const auto lines = top_lines(sample_report(), {.status = "not seen anew: it is down"});
  EXPECT_EQ(lines[1], "not seen anew: it is down");
}

TEST(Top, KeysSortEachList) {
  Report report = sample_report();
  report.waiting = {{.workload = "b", .wait_us = 1, .gpus = 64},
                    {.workload = "a", .wait_us = 9, .gpus = 8}};
  const auto order_in = [&](TopOrder order) {
    const std::string text = joined(top_lines(report, {.height = 60, .order = order}));
    const std::string waiting = text.substr(text.find("Waiting"));
    return waiting.find("\na ") < waiting.find("\nb ") ? "ab" : "ba";
  };
  EXPECT_STREQ(order_in(TopOrder::as_told), "ba");
  EXPECT_STREQ(order_in(TopOrder::gpus), "ba");
  EXPECT_STREQ(order_in(TopOrder::wait), "ab");
  EXPECT_STREQ(order_in(TopOrder::name), "ab");
}

TEST(Top, AnEmptySiteSaysSo) {
  Report report;
  report.site = "alpha";
  const std::string text = joined(top_lines(report, {}));
  EXPECT_TRUE(text.contains("Nothing waits.")) << text;
}

}  // namespace
}  // namespace fairlead

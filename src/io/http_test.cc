#include "io/http.h"

#include <gtest/gtest.h>

#include "io/event_channel.h"

namespace fairlead::io {
namespace {

TEST(HttpRequest, ParametersAreDecoded) {
  HttpRequest request;
  request.query = "since=7d&name=a%20b+c&flag&x=1&x=2";
  EXPECT_EQ(request.param("since"), "7d");
  EXPECT_EQ(request.param("name"), "a b c");
  EXPECT_EQ(request.param("flag"), "");
  EXPECT_EQ(request.param("x"), "1");
  EXPECT_EQ(request.param("y"), std::nullopt);
}

TEST(HttpRequest, HeaderNamesKnowNoCase) {
  HttpRequest request;
  request.headers = {{"Last-Event-ID", "7"}};
  EXPECT_EQ(request.header("last-event-id"), "7");
  EXPECT_EQ(request.header("Other"), "");
}

TEST(Etag, SavesTheBodyOfWhatTheClientHas) {
  HttpRequest request;
  const HttpResponse first = with_etag(request, make_response(200, "text/plain", "body"));
  EXPECT_EQ(first.body, "body");
  request.headers = {{"If-None-Match", "\"x\", W/" + std::string(first.header("ETag"))}};
  const HttpResponse second = with_etag(request, make_response(200, "text/plain", "body"));
  EXPECT_EQ(second.status, 304);
  EXPECT_EQ(second.body, "");
  EXPECT_EQ(with_etag(request, make_response(200, "text/plain", "new")).status, 200);
}

TEST(EventChannel, GivesWhatFollowsTheCursor) {
  EventChannel channel(3);
  uint64_t cursor = channel.last_id();
  EXPECT_EQ(channel.take_after(cursor), "");
  channel.publish(10, "decision", "{\"a\":1}");
  channel.publish(12, "", "two\nlines");
  EXPECT_EQ(channel.take_after(cursor),
            "id: 10\nevent: decision\ndata: {\"a\":1}\n\nid: 12\ndata: two\ndata: lines\n\n");
  EXPECT_EQ(cursor, 12u);
  EXPECT_EQ(channel.take_after(cursor), "");
}

TEST(EventChannel, SaysWhatTheRingLost) {
  EventChannel channel(2);
  for (uint64_t id = 1; id <= 4; ++id) channel.publish(id, "", "x");
  uint64_t too_old = 1;
  EXPECT_EQ(channel.take_after(too_old), "id: 4\nevent: missed\ndata: {\"last_id\":4}\n\n");
  EXPECT_EQ(too_old, 4u);
  uint64_t just_held = 2;
  EXPECT_EQ(channel.take_after(just_held), "id: 3\ndata: x\n\nid: 4\ndata: x\n\n");
  uint64_t from_another_life = 99;
  EXPECT_TRUE(channel.take_after(from_another_life).contains("missed"));
}

TEST(EventChannel, AReaderFromBeforeTheRestartIsTold) {
  EventChannel channel(4096, 1'000);
  channel.publish(1'001, "", "x");
  uint64_t from_before = 7;
  EXPECT_TRUE(channel.take_after(from_before).contains("missed"));
  EXPECT_EQ(from_before, 1'001u);
}

TEST(EventChannel, GivesAtLeastOneEventAndThenNotTooMuch) {
  EventChannel channel;
  for (uint64_t id = 1; id <= 4; ++id) channel.publish(id, "", std::string(100, 'x'));
  uint64_t cursor = 0;
  channel.take_after(cursor, 1);
  EXPECT_EQ(cursor, 1u);
  channel.take_after(cursor, 250);
  EXPECT_EQ(cursor, 3u);
}

}  // namespace
}  // namespace fairlead::io

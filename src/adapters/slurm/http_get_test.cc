#include "adapters/slurm/http_get.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace fairlead::slurm {
namespace {

struct AnswerRow {
  std::string_view name;
  std::string_view bytes;
  bool closed = false;
  std::optional<std::string> want;  // the body; nothing while more must come
  std::string_view want_error = "";
};

TEST(HttpGet, ReadsAnAnswer) {
  const AnswerRow rows[] = {
      {.name = "with its length",
       .bytes = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc",
       .want = "abc"},
      {.name = "header names in any case",
       .bytes = "HTTP/1.1 200 OK\r\ncontent-LENGTH:3\r\n\r\nabc",
       .want = "abc"},
      {.name = "not all of it yet", .bytes = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab"},
      {.name = "cut",
       .bytes = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab",
       .closed = true,
       .want_error = "http-bad-answer"},
      {.name = "in chunks",
       .bytes =
           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n",
       .want = "abc"},
      {.name = "the last chunk has not come",
       .bytes = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n"},
      {.name = "chunks cut",
       .bytes = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\na",
       .closed = true,
       .want_error = "http-bad-answer"},
      {.name = "a chunk without a size",
       .bytes = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\na",
       .want_error = "http-bad-answer"},
      {.name = "a size that overflows",
       .bytes = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\na",
       .want_error = "http-bad-answer"},
      {.name = "until the peer closes",
       .bytes = "HTTP/1.1 200 OK\r\n\r\nabc",
       .closed = true,
       .want = "abc"},
      {.name = "not modified has no body",
       .bytes = "HTTP/1.1 304 NOT MODIFIED\r\n\r\n",
       .want = ""},
      {.name = "half a head", .bytes = "HTTP/1.1 200 OK\r\nContent-Le"},
      {.name = "half a head and closed",
       .bytes = "HTTP/1.1 200 OK\r\nContent-Le",
       .closed = true,
       .want_error = "http-bad-answer"},
      {.name = "another protocol",
       .bytes = "SSH-2.0-OpenSSH\r\n\r\n",
       .want_error = "http-bad-answer"},
  };
  for (const AnswerRow& row : rows) {
    SCOPED_TRACE(row.name);
    const auto got = parse_http(row.bytes, row.closed);
    if (!row.want_error.empty()) {
      ASSERT_FALSE(got.has_value());
      EXPECT_EQ(got.error().code, row.want_error);
      continue;
    }
    ASSERT_TRUE(got.has_value());
    EXPECT_EQ(got->has_value(), row.want.has_value());
    if (*got && row.want) EXPECT_EQ((*got)->body, *row.want);
  }
}

TEST(HttpGet, NobodyThereIsSaid) {
  EXPECT_EQ(http_get({.url = "unix:/nonexistent/socket", .path = "/"}).error().code,
            "http-unreachable");
  EXPECT_EQ(http_get({.url = "ftp://x", .path = "/"}).error().code, "http-url");
}

RC_GTEST_PROP(HttpGet, AnyBytesAreRead, (const std::string& bytes, bool closed)) {
  (void)parse_http(bytes, closed);
  (void)parse_http("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + bytes, closed);
}

}  // namespace
}  // namespace fairlead::slurm

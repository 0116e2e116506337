#include "io/url.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace fairlead::io {
namespace {

struct UrlRow {
  std::string_view name, text;
  bool tls = false;
  std::string_view host = "", port = "80", unix_path = "", userinfo = "", target = "/", shown = "";
};

constexpr UrlRow kUrlRows[] = {
    {.name = "a host alone", .text = "http://prom", .host = "prom", .shown = "http://prom"},
    {.name = "port, path and query",
     .text = "http://prom:9090/a/b?c=d#e",
     .host = "prom",
     .port = "9090",
     .target = "/a/b?c=d",
     .shown = "http://prom:9090/a/b"},
    {.name = "https has its own port",
     .text = "https://prom",
     .tls = true,
     .host = "prom",
     .port = "443",
     .shown = "https://prom"},
    {.name = "a password is used and never shown",
     .text = "http://ana:p%40ss@prom/x",
     .host = "prom",
     .userinfo = "ana:p@ss",
     .target = "/x",
     .shown = "http://prom/x"},
    {.name = "an IPv6 address",
     .text = "http://[::1]:81",
     .host = "::1",
     .port = "81",
     .shown = "http://[::1]:81"},
    {.name = "a query right behind the host",
     .text = "http://prom?x=1",
     .host = "prom",
     .target = "/?x=1",
     .shown = "http://prom"},
    {.name = "a unix socket",
     .text = "unix:/run/x.sock",
     .host = "localhost",
     .port = "",
     .unix_path = "/run/x.sock",
     .shown = "unix:/run/x.sock"},
};

TEST(Url, IsReadAsPeopleWriteIt) {
  for (const UrlRow& row : kUrlRows) {
    SCOPED_TRACE(row.name);
    const auto url = parse_url(row.text);
    ASSERT_TRUE(url) << to_text(url.error());
    EXPECT_EQ(url->tls, row.tls);
    EXPECT_EQ(url->host, row.host);
    EXPECT_EQ(url->port, row.port);
    EXPECT_EQ(url->unix_path, row.unix_path);
    EXPECT_EQ(url->userinfo, row.userinfo);
    EXPECT_EQ(url->target, row.target);
    EXPECT_EQ(url->shown(), row.shown);
  }
}

TEST(Url, RefusesWhatIsNone) {
  for (const char* bad : {"", "prom:9090", "ftp://x", "http://", "http://:80", "http://x:0",
                          "http://x:99999", "http://x:8o", "http://[::1", "http://[::1]x",
                          "unix:run", "http://a b", "http://a\r\nHost: b"}) {
    const auto url = parse_url(bad);
    ASSERT_FALSE(url) << bad;
    EXPECT_EQ(url.error().code, "url-bad");
    EXPECT_FALSE(url.error().hint.empty());
  }
}

TEST(Url, BelowKeepsThePathInFront) {
  EXPECT_EQ(url_below(*parse_url("http://p/prom/"), "/api/v1/query").target, "/prom/api/v1/query");
  EXPECT_EQ(url_below(*parse_url("http://p"), "/api?x=1").target, "/api?x=1");
}

RC_GTEST_PROP(Percent, RoundTrips, (const std::string& text)) {
  RC_ASSERT(percent_decode(percent_encode(text)) == text);
}

TEST(Percent, LeavesABrokenEscapeAsItStands) {
  EXPECT_EQ(percent_decode("a%4"), "a%4");
  EXPECT_EQ(percent_decode("a%"), "a%");
  EXPECT_EQ(percent_decode("%zz+"), "%zz+");
  EXPECT_EQ(form_decode("a+b%2Bc"), "a b+c");
  EXPECT_EQ(percent_decode("%41"), "A");
}

TEST(Base64, PadsItsEnd) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("a"), "YQ==");
  EXPECT_EQ(base64("ab"), "YWI=");
  EXPECT_EQ(base64("user:pass"), "dXNlcjpwYXNz");
}

}  // namespace
}  // namespace fairlead::io

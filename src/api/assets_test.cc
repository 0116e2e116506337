#include "api/assets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace fairlead {
namespace {

const Asset* find(std::string_view path) {
  const auto it = std::ranges::find(assets(), path, &Asset::path);
  return it == assets().end() ? nullptr : &*it;
}

TEST(Assets, HoldTheConsole) {
  const Asset* index = find("/index.html");
  ASSERT_NE(index, nullptr);
  EXPECT_EQ(index->type, "text/html; charset=utf-8");
  EXPECT_TRUE(index->raw.starts_with("<!doctype html>"));
  EXPECT_TRUE(index->raw.ends_with("</html>\n"));
}

TEST(Assets, WhatThePageNamesIsThere) {
  const Asset* index = find("/index.html");
  ASSERT_NE(index, nullptr);
  size_t named = 0;
  for (size_t at = 0; (at = index->raw.find("\"./", at)) != index->raw.npos; ++named) {
    at += 2;
    const std::string_view path = index->raw.substr(at, index->raw.find('"', at) - at);
    EXPECT_NE(find(path), nullptr) << path;
  }
  EXPECT_GE(named, 2u);  // a script and a style sheet
}

TEST(Assets, AreSortedAndCompressedWhereItHelps) {
  EXPECT_TRUE(std::ranges::is_sorted(assets(), {}, &Asset::path));
  std::set<std::string_view> etags;
  size_t on_the_wire = 0;
  for (const Asset& a : assets()) {
    SCOPED_TRACE(a.path);
    EXPECT_TRUE(a.etag.starts_with('"') && a.etag.ends_with('"'));
    EXPECT_TRUE(etags.insert(a.etag).second);
    EXPECT_NE(a.type, "application/octet-stream");
    if (!a.gzip.empty()) {
      EXPECT_LT(a.gzip.size(), a.raw.size());
      EXPECT_TRUE(a.gzip.starts_with("\x1f\x8b"));
    }
    on_the_wire += a.gzip.empty() ? a.raw.size() : a.gzip.size();
  }
  EXPECT_LT(on_the_wire, 60'000u);  // given: the console loads in little
}

}  // namespace
}  // namespace fairlead

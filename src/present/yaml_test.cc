#include "present/yaml.h"

#include <gtest/gtest.h>

namespace fairlead {
namespace {

TEST(Yaml, KeepsMembersAndOrder) {
  const auto got = json_to_yaml(
      R"({"kind":"Report","num":3,"no":"no","list":[{"a":1,"b":[]},{"a":"x: y"}],"e":{},"t":"2026-01-01T00:00:00Z","z":null,"m":[1,2]})");
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(*got,
            "kind: Report\n"
            "num: 3\n"
            "\"no\": \"no\"\n"
            "list:\n"
            "- a: 1\n"
            "  b: []\n"
            "- a: \"x: y\"\n"
            "e: {}\n"
            "t: \"2026-01-01T00:00:00Z\"\n"
            "z: null\n"
            "m:\n"
            "- 1\n"
            "- 2\n");
}

TEST(Yaml, RefusesWhatIsNoJson) { EXPECT_EQ(json_to_yaml("{").error().code, "json-bad"); }

}  // namespace
}  // namespace fairlead

#include "adapters/prometheus/query_answer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace fairlead::prometheus {
namespace {

constexpr Instant kNow = instant_of_seconds(1'796'025'600);

struct MatrixRow {
  std::string_view name, body;
  std::string_view want = "";  // "series points unreadable samples", or a code
};

constexpr MatrixRow kMatrixRows[] = {
    {.name = "two looks of one device",
     .body =
         R"({"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"DCGM_FI_DEV_GPU_UTIL","gpu":"0","Hostname":"n1"},"values":[[1796025570.5,"1"],[1796025580.5,"2"]]}]}})",
     .want = "1 2 0 2"},
    {.name = "members in another order, and more of them",
     .body =
         R"({"data":{"result":[{"values":[[1796025570,"1"]],"metric":{"gpu":"0","__name__":"DCGM_FI_DEV_GPU_UTIL","instance":"n1:9400"}}],"resultType":"matrix"},"warnings":["x"],"status":"success"})",
     .want = "1 1 0 1"},
    {.name = "points that are none",
     .body =
         R"({"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"DCGM_FI_DEV_GPU_UTIL","gpu":"0","Hostname":"n1"},"values":[[1796025570,"x"],["1","1"],[1],7,[1796025580,"NaN"],[1796025590,"2"]]}]}})",
     .want = "1 2 4 1"},
    {.name = "no series",
     .body = R"({"status":"success","data":{"resultType":"matrix","result":[]}})",
     .want = "0 0 0 0"},
    {.name = "a metric that is not ours",
     .body =
         R"({"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"up"},"values":[[1796025570,"1"]]}]}})",
     .want = "1 0 0 0"},
    {.name = "an escape in a label",
     .body =
         R"({"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"DCGM_FI_DEV_GPU_UTIL","gpu":"0","Hostname":"n1","m":"\u00e4\"\n"},"values":[[1796025570,"1"]]}]}})",
     .want = "1 1 0 1"},
    {.name = "its own refusal",
     .body =
         R"({"status":"error","errorType":"execution","error":"query processing would load too many samples into memory"})",
     .want = "prometheus-refused"},
    {.name = "a vector, where a matrix was asked for",
     .body = R"({"status":"success","data":{"resultType":"vector","result":[]}})",
     .want = "prometheus-bad-answer"},
    {.name = "an answer that breaks off",
     .body =
         R"({"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"DCGM_FI_DEV_GPU_UTIL","gpu":"0","Hostname":"n1"},"values":[[1796025570,"1"],[17960)",
     .want = "prometheus-bad-answer"},
    {.name = "other JSON", .body = R"({"status":"ok"})", .want = "prometheus-refused"},
    {.name = "a list", .body = "[]", .want = "prometheus-bad-answer"},
    {.name = "a web page",
     .body = " <html><body>log in</body></html>",
     .want = "prometheus-bad-answer"},
    {.name = "nothing", .body = "", .want = "prometheus-bad-answer"},
    {.name = "bytes", .body = "\x1f\x8b\x08\xff\xfe", .want = "prometheus-bad-answer"},
};

TEST(Matrix, IsReadInOnePass) {
  const evidence::NodeDirectory nodes;
  for (const MatrixRow& row : kMatrixRows) {
    SCOPED_TRACE(row.name);
    evidence::Normaliser normaliser(nodes, kNow);
    std::string body(row.body);
    const auto counts = read_matrix(body, normaliser);
    const auto samples = normaliser.finish().samples;
    const std::string got = counts ? fmt::format("{} {} {} {}", counts->series, counts->points,
                                                 counts->unreadable, samples.size())
                                   : counts.error().code;
    EXPECT_EQ(got, row.want);
    if (!counts) {
      EXPECT_FALSE(counts.error().hint.empty());
    }
  }
}

RC_GTEST_PROP(Matrix, NoCutAndNoByteBreaksIt, ()) {
  const evidence::NodeDirectory nodes;
  std::string body(kMatrixRows[*rc::gen::inRange<size_t>(0, 6)].body);
  if (*rc::gen::arbitrary<bool>()) body.resize(*rc::gen::inRange<size_t>(0, body.size()));
  if (!body.empty()) body[*rc::gen::inRange<size_t>(0, body.size())] = *rc::gen::arbitrary<char>();
  evidence::Normaliser normaliser(nodes, kNow);
  std::string names = body, time = body;
  read_matrix(body, normaliser);
  read_names(names);
  read_time(time);
  normaliser.finish();
}

TEST(Answer, OfTheTimeAndTheNames) {
  std::string time =
      R"({"status":"success","data":{"resultType":"scalar","result":[1796025600.25,"1796025600.25"]}})";
  EXPECT_EQ(read_time(time).value(), kNow + Duration{250'000});
  std::string names = R"({"status":"success","data":["up","DCGM_FI_DEV_GPU_UTIL"]})";
  EXPECT_EQ(read_names(names).value(), (std::vector<std::string>{"up", "DCGM_FI_DEV_GPU_UTIL"}));
  std::string odd = R"({"status":"success","data":["up",7]})";
  EXPECT_FALSE(read_names(odd));
}

}  // namespace
}  // namespace fairlead::prometheus

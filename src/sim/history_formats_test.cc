#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "base/rng.h"
#include "codec/event_json.h"
#include "sim/history_read.h"
#include "sim/replay.h"

namespace fairlead {
namespace {

std::string source_dir() {
  const char* dir = std::getenv("FAIRLEAD_SOURCE_DIR");
  return dir == nullptr ? "." : dir;
}

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream content;
  content << file.rdbuf();
  return content.str();
}

History read(std::vector<HistoryInput> inputs, HistoryOptions options = {}) {
  auto history = read_history(std::move(inputs), options);
  EXPECT_TRUE(history) << to_text(history.error());
  return history ? std::move(*history) : History{};
}

std::string events_of(const History& history) {
  std::string out;
  HistoryCursor cursor(history);
  Instant last;
  while (const Event* event = cursor.next()) {
    EXPECT_LE(last, event->at);
    last = event->at;
    Event stated = *event;
    out += to_json(stated) + "\n";
  }
  return out;
}

ByColumn seconds_of(const Engine& engine) {
  ByColumn sum;
  engine.state().ledger.for_each(
      0, floor_seconds(engine.state().now),
      [&](const Account& a, int64_t, int64_t ms) { sum[a.column] += ms; });
  for (size_t c = 0; c < kColumns; ++c) sum[static_cast<Column>(c)] /= kMilli;
  return sum;
}

// --- sacct --json
// ------------------------------------------------------------------------------------

TEST(SacctJson, TellsWhatTheTextTellsInEachRelease) {
  for (const char* release : {"22.05", "24.11", "26.05"}) {
    SCOPED_TRACE(release);
    const std::string path = source_dir() + "/tests/data/sacct/" + release;
    const std::string text = content_of(path + ".txt");
    ASSERT_FALSE(text.empty()) << path;
    const History from_text = read({{"txt", text}});
    const History from_json = read({{"json", content_of(path + ".json")}});
    EXPECT_EQ(from_text.notes().skipped_rows(), 0);
    EXPECT_EQ(from_json.notes().skipped_rows(), 0);
    EXPECT_EQ(from_json.notes().format, "sacct --json");
    EXPECT_GT(from_json.notes().runs, from_json.notes().workloads);  // some were requeued
    // Exit codes are not among the columns of the text.
    std::string json_events = events_of(from_json);
    for (size_t at; (at = json_events.find(",\"exit_code\":")) != std::string::npos;) {
      json_events.erase(at, json_events.find_first_of(",}", at + 1) - at);
    }
    EXPECT_EQ(json_events, events_of(from_text));
    EXPECT_EQ(replay(from_json).engine.recount(), "");
  }
}

TEST(SacctJson, ABrokenDocumentKeepsWhatComesBefore) {
  const std::string whole = content_of(source_dir() + "/tests/data/sacct/22.05.json");
  const History cut = read({{"cut", whole.substr(0, whole.size() / 2)}});
  EXPECT_GT(cut.notes().workloads, 3);
  EXPECT_NE(cut.notes().remarks[0].find("cut off"), std::string::npos);
}

TEST(SacctJson, NumbersThatAreTooLargeAreLeftOut) {
  const std::string job =
      R"({"job_id":4,"user":"ana","state":{"current":"COMPLETED"},"nodes":"n1","time":{"submission":1767225600,"start":1767225600,"end":1767225900},)"
      R"("tres":{"requested":[{"type":"gres","name":"gpu","count":COUNT}]}})";
  const auto with = [&](std::string count) {
    std::string text = job;
    return text.replace(text.find("COUNT"), 5, count);
  };
  const History history = read({{"x", "{\"jobs\":[" + with("8") + "," + with("99999999999") + "," +
                                          with("99999999999999999999999") + "]}"}});
  EXPECT_EQ(history.notes().skipped[0].reason, "tres has a number that is too large");
}

// --- others
// ------------------------------------------------------------------------------------------

TEST(Swf, RowsBecomeJobs) {
  const History history = read({{"x.swf",
                                 "; UnixStartTime: 1767225600\n"
                                 "1 0 60 300 8 -1 -1 8 600 -1 1 3 2 -1 1 -1 -1 -1\n"
                                 "2 10 -1 -1 -1 -1 -1 4 600 -1 5 3 2 -1 1 -1 -1 -1\n"
                                 "3 10 5 7 4 -1 -1 4 600 -1 3 3 2 -1 1 -1 -1 -1\n"
                                 "4 ten\n"}});
  EXPECT_EQ(history.notes().format, "swf");
  EXPECT_EQ(history.notes().workloads, 2);
  EXPECT_EQ(history.notes().skipped_rows(), 2);
  EXPECT_EQ(seconds_of(replay(history).engine).held_unmeasured, 8 * 300);
}

TEST(Csv, ATableOfOnesOwnIsReadByItsColumns) {
  const History history =
      read({{"jobs.csv",
             "job,user,team,submit,start,end,gpus,nodes,state,class\n"
             "a,ana,llm,2026-01-01T00:00:00Z,2026-01-01T00:01:00Z,2026-01-01T00:02:00Z,16,2,"
             "completed,batch\n"
             "\"b, the second\",bob,ads,2026-01-01 00:00:00,,,4,1,pending,batch\n"
             "c,bob,ads,2026-01-01T00:00:00+01:00,2026-01-01T00:00:00Z,,4,1,,prod\n"
             "d,bob,ads,soon,,,4,1,,prod\n"
             "e,bob,ads,2026-01-01 00:00:00,,,1e300,1,,prod\n"}});
  EXPECT_EQ(history.notes().format, "csv");
  EXPECT_EQ(history.notes().workloads, 3);
  EXPECT_EQ(history.notes().still_open, 2);
  ASSERT_EQ(history.notes().skipped.size(), 2u);
  EXPECT_EQ(history.notes().skipped[0].reason, "submit is no time");
  EXPECT_EQ(history.notes().skipped[0].line, 5);
}

TEST(Csv, TimesFromZeroGetABase) {
  const History history = read({{"jobs.csv", "job,submit,start,end,gpus\na,0,10,20,4\n"}});
  EXPECT_EQ(history.from(), HistoryOptions{}.base);
  EXPECT_EQ(seconds_of(replay(history).engine).held_unmeasured, 40);
}

TEST(Csv, ARowWiderThanItsHeaderIsLeftOutWithItsLine) {
  const History history = read({{"jobs.csv",
                                 "job,submit,start,end,gpus\n"
                                 "a,0,10,20,4\n"
                                 "b, the second,0,10,20,4\n"
                                 "c,0,10,20,4,\n"}});
  EXPECT_EQ(history.notes().workloads, 2);
  ASSERT_EQ(history.notes().skipped.size(), 1u);
  EXPECT_EQ(history.notes().skipped[0].reason, "more fields than the header has columns");
  EXPECT_EQ(history.notes().skipped[0].line, 3);
}

TEST(Csv, ATableWithoutDevicesSaysWhichColumnsItHas) {
  const History history = read({{"a.csv", "job,submit,start,end,cards\na,0,10,20,4\n"},
                                {"b.csv", "job,submit,start,end,cards\nb,0,10,20,4\n"}});
  EXPECT_FALSE(history.notes().has_devices);
  const std::string want =
      "no column says how many GPUs a job asked for (gpus, num_gpus, num_gpu, devices): all count "
      "as none; the columns are job, submit, start, end, cards (2 files)";
  EXPECT_EQ(std::ranges::count(history.notes().remarks, want), 1);
  const History one = read({{"a.csv", "job,submit,start,end,gpus\na,0,10,20,4\n"}});
  for (const std::string& remark : one.notes().remarks) {
    EXPECT_EQ(remark.find("no column"), std::string::npos) << remark;
    EXPECT_EQ(remark.find("files)"), std::string::npos) << remark;
  }
}

TEST(Csv, MuriCountsMillisecondsAndChronusSeconds) {
  const History muri = read({{"m.csv",
                              "job_id,num_gpu,submit_time,iterations,model_name,duration,interval,"
                              "iteration_time\n"
                              "0,4,60000,100,gpt2,50000,1000,500\n"}});
  EXPECT_EQ(muri.notes().format, "muri");
  EXPECT_EQ(seconds_of(replay(muri).engine).held_unmeasured, 4 * 50);
  const History chronus =
      read({{"c.csv",
             "job_id,user,num_gpu,submit_time,iterations,model_name,duration,"
             "interval,expect_time_list,expect_value_list,best_effort,job_type\n"
             "0,vc_6214e9,4,8555,5049,vgg16,747,14,1105,10,0,strict\n"}});
  EXPECT_EQ(chronus.notes().format, "chronus");
  EXPECT_TRUE(chronus.notes().has_teams);
  EXPECT_EQ(chronus.from(), HistoryOptions{}.base + seconds(8555));
  EXPECT_EQ(seconds_of(replay(chronus).engine).held_unmeasured, 4 * 747);
}

TEST(Csv, ElasticFlowsTablesComeInTwoSpellings) {
  const History published = read(
      {{"e.csv",
        "job_id,submission_time,num_iteration,model_name,deadline,batch_size,num_gpu,duration\n"
        "965d744f,100,45775,resnet50,1879,256,64,50\n"}});
  EXPECT_EQ(published.notes().format, "elasticflow");
  EXPECT_EQ(published.from(), HistoryOptions{}.base + seconds(100));
  EXPECT_EQ(seconds_of(replay(published).engine).held_unmeasured, 64 * 50);
  const History simulated =
      read({{"p.csv",
             "job_id,submit_time,real_iteration,model_name,ddl,batch_size,num_gpu,real_duration,"
             "duration,iteration\n"
             "0,0,1282877,vgg16,771220,256,4,976570,10,1282877\n"
             "1,soon,1282877,vgg16,771220,256,4,976570,10,1282877\n"}});
  EXPECT_EQ(simulated.notes().format, "elasticflow");
  EXPECT_EQ(seconds_of(replay(simulated).engine).held_unmeasured, 40);
  ASSERT_EQ(simulated.notes().skipped.size(), 1u);
  EXPECT_EQ(simulated.notes().skipped[0].reason,
            "the submission or the duration is no number of seconds");
}

TEST(Csv, PolluxSaysWhatArrivesAndNotHowLongItRuns) {
  const History history = read({{"w.csv",
                                 "name,time,application,num_replicas,batch_size\n"
                                 "cifar10-0,107.5,cifar10,6,2048\n"
                                 "bert-1,110,bert,many,12\n"}});
  EXPECT_EQ(history.notes().format, "pollux");
  EXPECT_EQ(history.notes().workloads, 1);
  EXPECT_EQ(history.notes().still_open, 1);
  EXPECT_FALSE(history.notes().has_ends);
  EXPECT_EQ(history.notes().skipped_rows(), 1);
  EXPECT_EQ(seconds_of(replay(history).engine).held_unmeasured, 0);
}

TEST(GavelTrace, ShockwaveHasLengthsBeside) {
  const History history = read(
      {{"s.trace",
        "LM (batch size 10)\tpython3 main.py --cuda\tlanguage_modeling\t--steps\t1\t134583\t2\tgns"
        "\t1\t-1.000000\t1418\t0\n"
        "LM (batch size 10)\tpython3 main.py --cuda\tlanguage_modeling\t--steps\t1\t134583\n"}});
  EXPECT_EQ(history.notes().format, "shockwave");
  EXPECT_EQ(seconds_of(replay(history).engine).held_unmeasured, 2 * 1418);
  ASSERT_EQ(history.notes().skipped.size(), 1u);
  EXPECT_EQ(history.notes().skipped[0].line, 2);
  const History gavel = read({{"g.trace",
                               "ResNet-18 (batch size 128)\tpython3 "
                               "main.py\timage_classification/cifar10\t--num_steps\t1\t925982"
                               "\t4\t1\t-1.000000\t60\n"}});
  EXPECT_EQ(gavel.notes().format, "gavel trace");
  EXPECT_EQ(gavel.notes().still_open, 1);
  EXPECT_EQ(gavel.from(), HistoryOptions{}.base + seconds(60));
}

TEST(Openb, PodsAreHeldOnTheFleetAndSharesAreNotCountedTwice) {
  const std::string pods =
      "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_"
      "time,scheduled_time\n"
      "p0,1000,1,2,1000,,LS,Succeeded,0,100,0\n"
      "p1,1000,1,1,400,,LS,Succeeded,0,100,0\n"
      "p2,1000,1,1,600,,BE,Succeeded,0,200,50\n"
      "p3,1000,1,1,1000,T4,BE,Running,10,,20\n"
      "p4,1000,1,0,0,,BE,Pending,10,,\n";
  const std::string nodes =
      "sn,cpu_milli,memory_mib,gpu,model\nn0,64000,1,4,P100\nn1,64000,1,2,T4\n";
  const History alone = read({{"pods", pods}});
  EXPECT_EQ(seconds_of(replay(alone).engine).held_unmeasured, 2 * 100 + 40 + 90 + 180);
  const History placed = read({{"pods", pods}, {"nodes", nodes}});
  const ReplayResult result = replay(placed);
  const ByColumn seconds = seconds_of(result.engine);
  EXPECT_EQ(result.engine.state().unplaced_milli, 0);
  EXPECT_EQ(seconds.total(), 6 * 200);
  EXPECT_EQ(seconds.held_unmeasured, 2 * 100 + 200 + 180);  // the shared device as a whole
  EXPECT_EQ(result.engine.recount(), "");
}

TEST(Helios, DemandByMinuteIsOneHolderAndOneRequest) {
  const History history = read({{"data/Earth_vc6YE_gpu_sequence.csv",
                                 "time,total_gpu_num,running_gpu_num,pending_gpu_num,idle_gpu_num,"
                                 "running_gpujob_num,pending_gpujob_num\n"
                                 "2020-05-01 00:00:00,208,162,0,46,6,0\n"
                                 "2020-05-01 00:01:00,208,162,0,46,6,0\n"
                                 "2020-05-01 00:02:00,208,170,16,38,7,1\n"
                                 "2020-05-01 00:03:00,200,170,16,38,7,1\n"
                                 "2020-05-01 00:04:00,200,170,16,38,7,1\n"}});
  const ReplayResult result = replay(history);
  const ByColumn seconds = seconds_of(result.engine);
  EXPECT_EQ(seconds.held_unmeasured, 60 * (162 * 2 + 170 * 2));
  EXPECT_EQ(seconds.total(), 60 * (208 * 3 + 200));
  EXPECT_EQ(result.engine.recount(), "");
}

TEST(Journal, IsReplayedAsItWas) {
  std::string journal = event_header() + "\n";
  const auto add = [&](int64_t second, What what) {
    journal +=
        to_json(Event{
            .seq = 1, .at = instant_of_seconds(1'767'225'600 + second), .what = std::move(what)}) +
        "\n";
  };
  add(0, PollBegan{.full = true});
  add(0, Node{.name = "n1", .state = NodeState::idle, .devices = {{"h100", 8}}});
  add(0, PollEnded{});
  journal += "not an event\n";
  add(7200, PollEnded{});
  const History history = read({{"journal", journal}});
  EXPECT_EQ(history.notes().skipped_rows(), 1);
  EXPECT_EQ(history.notes().skipped[0].line, 5);
  const ReplayResult result = replay(history);
  EXPECT_EQ(result.progress.events, 4u);
  EXPECT_EQ(result.decisions.at(DecisionKind::source_lost), 1);  // nobody looked for two hours
}

TEST(Journal, OfAnotherVersionIsRefused) {
  const auto history = read_history({{"journal", "{\"fairlead_events\":99}\n"}});
  ASSERT_FALSE(history);
  EXPECT_EQ(history.error().code, "event-version");
  EXPECT_EQ(history.error().place.source, "journal");
}

TEST(History, TwoFormatsAreNoHistory) {
  const auto history = read_history({{"a", "job,submit,start,end,gpus\na,0,10,20,4\n"},
                                     {"b", "1 0 60 300 8 -1 -1 8 600 -1 1 3 2 -1 1 -1 -1 -1\n"}});
  ASSERT_FALSE(history);
  EXPECT_EQ(history.error().code, "history-mixed");
  EXPECT_EQ(history.error().place.source, "b");
}

// Any cut of a good dump, and any byte changed, is read or refused, and never more than that.
TEST(History, NoInputBreaksAReader) {
  std::vector<std::string> seeds;
  for (const char* name : {"22.05.txt", "26.05.txt", "24.11.json"})
    seeds.push_back(content_of(source_dir() + "/tests/data/sacct/" + name).substr(0, 6000));
  seeds.push_back("1 0 60 300 8 -1 -1 8 600 -1 1 3 2 -1 1 -1 -1 -1\n");
  seeds.push_back("job,user,team,submit,start,end,gpus\n\"a\",ana,llm,0,10,20,4\n");
  seeds.push_back(
      "LM (batch size 10)\tmain.py\tlm\t--steps\t1\t134583\t2\tgns\t1\t-1.000000\t1418\t0\n");
  seeds.push_back(
      "job_id,submission_time,num_iteration,model_name,deadline,batch_size,num_gpu,duration\n"
      "965d,100,45775,resnet50,1879,256,64,50\n");
  seeds.push_back("name,time,application,num_replicas,batch_size\ncifar10-0,107,cifar10,6,2048\n");
  seeds.push_back(
      "time,total_gpu_num,running_gpu_num,pending_gpu_num\n2020-05-01 00:00:00,208,162,0\n");
  Rng rng(1);
  const auto next = [&](uint64_t below) { return rng.below(below); };
  for (const std::string& seed : seeds) {
    for (int i = 0; i < 400; ++i) {
      std::string text = seed.substr(0, 1 + next(seed.size()));
      for (uint64_t n = next(6); n > 0; --n)
        text[next(text.size())] = static_cast<char>("0|,:-\n\"{}[]9\xff="[next(15)]);
      auto history = read_history({{"fuzz", std::move(text)}});
      if (!history) {
        EXPECT_FALSE(history.error().code.empty());
        continue;
      }
      EXPECT_EQ(replay(*history).engine.recount(), "");
    }
  }
}

// --- public data, where it is at hand
// ---------------------------------------------------------------------

std::string data_dir() {
  const char* dir = std::getenv("FAIRLEAD_DATA");
  return dir == nullptr ? source_dir() + "/../shared/data" : dir;
}

std::string unpacked(const std::string& path) {
  std::string out;
  FILE* pipe = popen(fmt::format("gzip -dcf '{}' 2>/dev/null", path).c_str(), "r");
  char buffer[1 << 16];
  for (size_t n; pipe != nullptr && (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    out.append(buffer, n);
  if (pipe != nullptr) pclose(pipe);
  return out;
}

struct PublicRow {
  std::string_view name;
  std::vector<std::string> files;
  int64_t want_workloads;
};

TEST(PublicData, EachTraceIsReadAndReplayed) {
  const PublicRow rows[] = {
      {"philly", {"philly/philly.csv.gz"}, 82'247},
      {"swf with waits unknown", {"swf/lublin_256.swf.gz"}, 10'000},
      {"swf of NASA", {"swf/NASA-iPSC-1993-3.1-cln.swf.gz"}, 18'239},
      {"openb pods alone", {"openb/openb_pod_list_default.csv.gz"}, 8152},
      {"muri", {"muri/trace1.csv.gz"}, 1494},
      {"chronus", {"chronus/trace_job_Philly_SLO.csv.gz"}, 30'940},
      {"gavel", {"gavel/streams/jobs_multi_seed0.csv.gz"}, 7000},
      {"elasticflow, published", {"elasticflow/traces/cluster01.csv.gz"}, 1'595},
      {"elasticflow, the largest", {"elasticflow/traces/cluster04.csv.gz"}, 15'802},
      {"elasticflow of the testbed", {"elasticflow/traces/195job.csv.gz"}, 195},
      {"elasticflow of Philly", {"elasticflow/traces/philly_103959.csv.gz"}, 876},
      {"elasticflow beside Pollux", {"elasticflow/traces/elasticVpollux_e.csv.gz"}, 195},
      {"pollux", {"pollux/workloads/workload-6.csv"}, 160},
      {"sia of Philly", {"sia/workloads/philly/workload-1.csv"}, 160},
      {"sia of its own", {"sia/workloads/newtrace/workload-1.csv"}, 960},
      {"sia of Saturn", {"sia/workloads/saturn/workload-1.csv"}, 160},
      {"gavel's own trace", {"gavel/max_min_fairness.trace"}, 96},
      {"shockwave",
       {"shockwave/120_0.2_5_100_40_25_0_0.5_0.5_0.6_0.3_0.09_0.01_multigpu_dynamic.trace.gz"},
       120},
      {"shockwave, 900 jobs",
       {"shockwave/900_0.2_5_1000_5_15_0_0.5_0.5_0.6_0.3_0.09_0.01_multigpu_dynamic.trace.gz"},
       900},
      {"muri, all at once", {"muri/trace2_pr.csv.gz"}, 5'755},
      {"alibaba", {"alibaba-dlrm-2025/disaggregated_DLRM_trace.csv.gz"}, 23'871},
  };
  for (const PublicRow& row : rows) {
    SCOPED_TRACE(row.name);
    std::vector<HistoryInput> inputs;
    for (const std::string& file : row.files)
      inputs.push_back({file, unpacked(data_dir() + "/" + file)});
    if (inputs[0].text.empty())
      GTEST_SKIP() << "no public data below " << data_dir()
                   << " (FAIRLEAD_DATA names another folder)";
    const History history = read(std::move(inputs));
    EXPECT_EQ(history.notes().workloads, row.want_workloads);
    EXPECT_EQ(history.notes().skipped_rows(), 0)
        << (history.notes().skipped.empty() ? "" : history.notes().skipped[0].reason);
    EXPECT_EQ(replay(history).engine.recount(), "");
  }
}

TEST(PublicData, OpenbAndHeliosHaveAFleet) {
  std::vector<HistoryInput> openb{
      {"pods", unpacked(data_dir() + "/openb/openb_pod_list_default.csv.gz")},
      {"nodes", content_of(data_dir() + "/openb/openb_node_list_gpu_node.csv")}};
  if (openb[0].text.empty())
    GTEST_SKIP() << "no public data below " << data_dir()
                 << " (FAIRLEAD_DATA names another folder)";
  const ReplayResult pods = replay(read(std::move(openb)));
  EXPECT_EQ(pods.engine.state().fleet.present_devices(), 6212);
  EXPECT_EQ(pods.engine.recount(), "");
  std::vector<HistoryInput> helios;
  for (const char* pool : {"vc6YE", "vchbv", "vcLJZ"}) {
    const std::string path =
        fmt::format("{}/helios/Earth_{}_gpu_sequence.csv.gz", data_dir(), pool);
    helios.push_back({path, unpacked(path)});
  }
  const ReplayResult demand = replay(read(std::move(helios)));
  EXPECT_EQ(demand.engine.state().fleet.nodes().size(), 3u);
  EXPECT_EQ(demand.engine.recount(), "");
}

}  // namespace
}  // namespace fairlead

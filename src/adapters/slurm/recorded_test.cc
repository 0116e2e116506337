// What three releases of Slurm answered to one bag of jobs, recorded by testdata/record: the
// commands' text, slurmrestd's JSON, and what the bridge made of libslurm's structs (want.jsonl).
// All must say the same. Cut or damaged, an answer may lose records, never invent or crash.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "adapters/slurm/commands_reader.h"
#include "adapters/slurm/rest_reader.h"
#include "adapters/slurm/same_cluster.h"
#include "adapters/slurm/text_assoc.h"
#include "adapters/slurm/text_jobs.h"

namespace fairlead::slurm {
namespace {

std::string file_text(const std::string& name) {
  const char* const root = std::getenv("FAIRLEAD_SOURCE_DIR");
  std::ifstream file(
      std::string(root == nullptr ? "." : root) + "/src/adapters/slurm/testdata/" + name,
      std::ios::binary);
  EXPECT_TRUE(file.good()) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

// What a reader asks for, by the last word that tells: "scontrol -a show node" -> "node".
RunCommand recorded_commands(const std::string& release) {
  return [release](const Command& command) -> Result<CommandOutput> {
    std::string name;
    for (const std::string& word : command.words) {
      if (!word.starts_with('-') && !word.starts_with('%') && !word.starts_with("format=") &&
          !word.starts_with("flags=")) {
        name += (name.empty() ? "" : "_") + word;
      }
    }
    return CommandOutput{.out = file_text(release + "/" + name + ".txt")};
  };
}

// "/slurm/v0.0.42/jobs/" -> rest_jobs.json of `version`; other versions are not there.
HttpGet recorded_rest(const std::string& release, const std::string& version) {
  return [=](const HttpRequest& request) -> Result<HttpAnswer> {
    if (request.path.find("/" + version + "/") == std::string::npos)
      return HttpAnswer{.status = 404};
    std::string name = request.path.substr(request.path.find(version) + version.size() + 1);
    if (name.ends_with('/')) name.pop_back();
    if (name == "ping") return HttpAnswer{.status = 200, .body = "{}"};
    return HttpAnswer{.status = 200, .body = file_text(release + "/rest_" + name + ".json")};
  };
}

struct ReleaseRow {
  std::string release, rest_version;
  bool libslurm_tells_shares = false;
};

TEST(Recorded, ThreeReadersSayTheSame) {
  const ReleaseRow rows[] = {
      {"22.05", "v0.0.38", true}, {"24.11", "v0.0.42"}, {"26.05", "v0.0.44"}};
  for (const ReleaseRow& row : rows) {
    SCOPED_TRACE(row.release);
    const auto may_lack = [&](const SlurmFacts& facts) {
      return row.libslurm_tells_shares ? facts : without_shares(facts);
    };
    const SlurmFacts want = facts_of_stream(file_text(row.release + "/want.jsonl"));
    EXPECT_GT(want.jobs.size(), 15U);

    CommandsReader commands({.run = recorded_commands(row.release)});
    expect_same(records_of(may_lack(want)), records_of(may_lack(read_all(commands))), "commands");

    RestReader rest({.get = recorded_rest(row.release, row.rest_version)});
    const SlurmFacts told = read_all(rest, {Part::steps, Part::topology});
    expect_same(records_of(as_rest_tells(may_lack(want))),
                records_of(as_rest_tells(may_lack(told))), "rest");
  }
}

std::string with(std::string text, const std::string& before, const std::string& after) {
  for (size_t at = 0; (at = text.find(before, at)) != std::string::npos; at += after.size())
    text.replace(at, before.size(), after);
  return text;
}

// None of the recorded jobs was submitted with --time-min or --no-requeue, so the words are put in.
TEST(Recorded, WhatAJobAcceptsIsReadFromEveryForm) {
  struct Row {
    std::string release, rest_version, least;
  };
  const Row rows[] = {
      {"22.05", "v0.0.38", R"("time_minimum":0)"},
      {"24.11", "v0.0.42", R"("time_minimum":{"set":true,"infinite":false,"number":0})"},
      {"26.05", "v0.0.44", R"("time_minimum":{"set":true,"infinite":false,"number":0})"}};
  for (const Row& row : rows) {
    SCOPED_TRACE(row.release);
    const std::string least = with(row.least, row.least.ends_with('}') ? "0}" : ":0",
                                   row.least.ends_with('}') ? "10}" : ":10");
    const std::string text = file_text(row.release + "/scontrol_show_job.txt");
    for (const Job& job : parse_jobs(with(text, "TimeMin=N/A", "TimeMin=00:10:00")).records) {
      EXPECT_EQ(job.request.time_min_s, 600) << job.id;
      EXPECT_TRUE(job.may_requeue) << job.id;
    }
    for (const char* word : {"Requeue=1", "BatchFlag=1"})
      for (const Job& job : parse_jobs(with(text, word, with(word, "1", "0"))).records)
        EXPECT_FALSE(job.may_requeue) << job.id << " " << word;

    const HttpGet recorded = recorded_rest(row.release, row.rest_version);
    const auto read = [&](const std::string& before, const std::string& after) {
      RestReader rest({.get = [&](const HttpRequest& request) -> Result<HttpAnswer> {
        auto answer = recorded(request);
        if (answer) answer->body = with(answer->body, before, after);
        return answer;
      }});
      SlurmFacts facts = read_all(rest, {Part::steps, Part::topology});
      EXPECT_GT(facts.jobs.size(), 15U);
      return facts.jobs;
    };
    for (const Job& job : read(row.least, least)) {
      EXPECT_EQ(job.request.time_min_s, 600) << job.id;
      EXPECT_TRUE(job.may_requeue) << job.id;
    }
    for (const char* word : {R"("requeue":true)", R"("batch_flag":true)"})
      for (const Job& job : read(word, with(word, "true", "false")))
        EXPECT_FALSE(job.may_requeue) << job.id << " " << word;
  }
}

// What slurmrestd does not tell comes from the commands, if they speak to the same cluster.
TEST(Recorded, SlurmrestdWithTheCommandsBesideTellsStepsTopologyAndWhatIsEnforced) {
  const auto commands =
      std::make_shared<CommandsReader>(CommandsOptions{.run = recorded_commands("24.11")});
  RestReader rest({.get = recorded_rest("24.11", "v0.0.42"), .beside = commands});
  const SlurmFacts want = facts_of_stream(file_text("24.11/want.jsonl"));
  const SlurmFacts told = read_all(rest);
  EXPECT_EQ(told.steps.size(), read_all(*commands).steps.size());
  EXPECT_FALSE(told.steps.empty());
  EXPECT_EQ(told.topology, want.topology);
  EXPECT_TRUE(told.scheduler.enforces_associations);
  EXPECT_EQ(told.scheduler.priority_weights, want.scheduler.priority_weights);
  EXPECT_EQ(told.note, "");
}

TEST(Recorded, SlurmrestdAloneSaysThatItDoesNotKnowWhatIsEnforced) {
  RestReader alone({.get = recorded_rest("24.11", "v0.0.42")});
  const SlurmFacts told = read_all(alone, {Part::steps, Part::topology});
  EXPECT_TRUE(told.scheduler.enforces_limits);  // what is set is taken to hold
  EXPECT_NE(told.note.find("which limits are enforced"), std::string::npos);

  class Elsewhere final : public Reader {
    Result<bool> read(Part, SlurmFacts& facts) override {
      facts.scheduler = {.cluster = "another", .enforces_associations = true};
      return true;
    }
    void forget() override {}
  };
  RestReader rest(
      {.get = recorded_rest("24.11", "v0.0.42"), .beside = std::make_shared<Elsewhere>()});
  const SlurmFacts other = read_all(rest, {Part::steps, Part::topology});
  EXPECT_FALSE(other.scheduler.enforces_associations);
  EXPECT_NE(other.note, "");
}

// Text that ends anywhere gives a prefix of the records, and counts the cut one.
TEST(Recorded, ACutTextInventsNothing) {
  const std::string text = file_text("22.05/scontrol_show_job.txt");
  const auto whole = parse_jobs(text).records;
  for (size_t size = 0; size < text.size(); size += 37) {
    const auto cut = parse_jobs(std::string_view(text).substr(0, size));
    ASSERT_LE(cut.records.size(), whole.size());
    for (size_t i = 0; i + 1 < cut.records.size(); ++i) ASSERT_EQ(cut.records[i], whole[i]) << size;
    ASSERT_LE(cut.unreadable, 1);
  }
}

TEST(Recorded, ACutDocumentIsNoDocument) {
  const std::string text = file_text("22.05/rest_jobs.json");
  for (size_t size = 1; size < text.size() - 2; size += 1009) {
    RestReader reader({.get = [&](const HttpRequest& request) -> Result<HttpAnswer> {
      const bool jobs = request.path.find("/jobs") != std::string::npos;
      return HttpAnswer{.status = 200, .body = jobs ? text.substr(0, size) : "{}"};
    }});
    SlurmFacts facts;
    ASSERT_FALSE(reader.read(Part::jobs, facts).has_value()) << size;
    ASSERT_TRUE(facts.jobs.empty());
  }
}

// One byte changed anywhere: read or refused, never worse.
TEST(Recorded, ADamagedAnswerIsSurvived) {
  const std::string names[] = {"scontrol_show_job",       "scontrol_show_node",
                               "scontrol_show_assoc_mgr", "scontrol_show_partition",
                               "scontrol_show_config",    "sdiag"};
  for (const std::string& name : names) {
    std::string text = file_text("26.05/" + name + ".txt");
    for (size_t i = 0; i < text.size(); i += 23) {
      const char before = text[i];
      text[i] = static_cast<char>("\n\0 =,(["[i % 7]);
      parse_jobs(text.substr(i / 2, 4000));
      parse_nodes(text.substr(i / 2, 4000));
      parse_assoc_mgr(text.substr(i / 2, 4000));
      parse_partitions(text.substr(i / 2, 4000));
      parse_config(text.substr(i / 2, 4000));
      parse_statistics(text.substr(i / 2, 4000));
      text[i] = before;
    }
  }
}

// A document of the wrong shape has no records; nothing in it may end the process.
TEST(Recorded, ADocumentOfAnotherShapeHasNoRecords) {
  for (
      const char* text :
      {"{}", R"({"jobs":7})",
       R"({"jobs":[7,null,"x",{},{"job_id":"x"},{"job_id":-1},{"job_id":99999999999,"job_state":"RUNNING"}]})",
       R"({"jobs":[{"job_id":1,"job_state":"RUNNING","gres_detail":[7,null],"job_resources":{"allocated_nodes":7},"exit_code":"x","array_job_id":{"set":true}}]})",
       R"({"nodes":[{"name":"n1"},{"name":7,"state":"idle"}],"partitions":[1],"qos":[{}],"associations":{}})"}) {
    SCOPED_TRACE(text);
    simdjson::dom::parser parser;
    const Json document = parser.parse(std::string_view(text)).value();
    EXPECT_LE(jobs_of(document).records.size(), 1U);
    EXPECT_TRUE(nodes_of(document).records.empty());
    EXPECT_TRUE(partitions_of(document).records.empty());
    EXPECT_TRUE(qos_of(document).records.empty());
    EXPECT_TRUE(associations_of(document).records.empty());
  }
}

}  // namespace
}  // namespace fairlead::slurm

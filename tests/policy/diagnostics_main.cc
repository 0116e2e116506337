// Checks the organisations of a transcript and compares what is said with what the file says.
//
//   policy_diagnostics [--update] FILE|FOLDER...    --update writes what is said; read it as a diff
//
// A file holds cases between lines of `====`. A case is text, a line `----`, and what is said of
// the text. In the text, `>>> b.policy` begins another file of the same organisation, `>>>
// teams.csv` a table of members, and `>>> fleet 256 H100` states the fleet; without them the text
// is acme.policy. A case that is good says
// its layout, where that differs, and `good`.
//
// Exit codes: 0 as written, 1 something else is said, 2 wrong use or a file that cannot be read.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "policy/check.h"
#include "policy/layout.h"
#include "policy/test_run.h"

namespace fairlead::policy {
namespace {

namespace fs = std::filesystem;

struct Case {
  std::string text, said;
};

std::vector<Case> cases_of(const std::string& content) {
  std::vector<Case> cases(1);
  bool below = false;
  std::istringstream lines(content);
  for (std::string line; std::getline(lines, line);) {
    if (line == "====") {
      cases.emplace_back();
      below = false;
    } else if (line == "----") {
      below = true;
    } else {
      (below ? cases.back().said : cases.back().text) += line + "\n";
    }
  }
  return cases;
}

struct Input {
  lang::Sources sources;
  CheckOptions options;
};

void read_case(const std::string& text, Input& input) {
  std::string name = "acme.policy", body;
  input.options.tables.emplace();
  const auto add = [&] {
    if (body.empty()) return;
    const lang::FileId file = input.sources.add(name, std::exchange(body, {}));
    if (!name.ends_with(".policy")) input.options.tables->emplace(name, file);
  };
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(">>> ")) {
      body += line + "\n";
      continue;
    }
    std::istringstream words(line.substr(4));
    std::string word, device;
    int64_t count = 0;
    words >> word;
    if (word == "fleet" && words >> count >> device) {
      input.options.fleet[device] = devices(count);
      continue;
    }
    add();
    name = word;
  }
  add();
  input.options.zone_exists = [](const std::string& zone) {
    return zone == "UTC" || zone == "Europe/Berlin" || zone == "America/New_York";
  };
}

std::string said_of(const std::string& text) {
  Input input;
  read_case(text, input);
  const Checked checked = check_files(input.sources, input.options);
  std::string out;
  for (const auto& problem : checked.problems) out += to_text(problem, input.sources);
  if (!checked.good()) return out;
  for (lang::FileId file = 0; file < input.sources.size(); ++file) {
    if (!input.sources.file(file).name().ends_with(".policy")) continue;
    const std::string laid_out = lang::format(input.sources, file, format_rules());
    if (laid_out != input.sources.file(file).text()) out += laid_out;
  }
  out += "good\n";
  for (const TestNode& test : checked.tree.tests) {
    const TestResult result = run_test(checked.organisation, test);
    out +=
        fmt::format("{}: {}{}\n", test.title.value,
                    result.outcome == TestOutcome::not_run ? "not run" : enum_name(result.outcome),
                    result.why_not_run.empty() ? "" : ", " + result.why_not_run);
    for (const std::string& event : result.events) out += event + "\n";
    for (const auto& failure : result.failures) out += to_text(failure, input.sources);
  }
  return out;
}

int play(const fs::path& path, bool update) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream content;
  if (!file || !(content << file.rdbuf())) {
    std::cerr << fmt::format("{}: cannot be read\n", path.string());
    return 2;
  }
  std::string is;
  int worst = 0;
  for (const Case& one : cases_of(content.str())) {
    const std::string said = said_of(one.text);
    is += fmt::format("{}{}----\n{}", is.empty() ? "" : "====\n", one.text, said);
    if (said == one.said) continue;
    worst = 1;
    if (!update)
      std::cerr << fmt::format("{}: of\n{}was said\n{}and is said\n{}", path.string(), one.text,
                               one.said, said);
  }
  if (!update || worst == 0) return worst;
  std::ofstream(path, std::ios::binary) << is;
  std::cout << fmt::format("{}: written\n", path.string());
  return 0;
}

}  // namespace
}  // namespace fairlead::policy

int main(int argc, char** argv) {
  namespace fs = std::filesystem;
  bool update = false;
  int worst = 0, played = 0;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--update") {
      update = true;
      continue;
    }
    std::vector<fs::path> files{argv[i]};
    if (fs::is_directory(argv[i])) {
      files.clear();
      for (const auto& entry : fs::directory_iterator(argv[i]))
        if (entry.path().extension() == ".txt") files.push_back(entry.path());
      std::ranges::sort(files);
    }
    for (const auto& file : files) {
      worst = std::max(worst, fairlead::policy::play(file, update));
      ++played;
    }
  }
  if (played == 0) std::cerr << "usage: policy_diagnostics [--update] FILE|FOLDER...\n";
  return played == 0 ? 2 : worst;
}

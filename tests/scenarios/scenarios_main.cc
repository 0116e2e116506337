// Plays every scenario and compares its outcome with what the file says.
//
//   scenarios [--update] FILE|FOLDER...     --update writes the outcomes; read them as a diff
//
// Exit codes: 0 as written, 1 another outcome, 2 wrong use or a file that cannot be read.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "explain/explain.h"
#include "sim/scenario.h"

namespace fairlead {
namespace {

namespace fs = std::filesystem;

std::string blockers_text(const State& state, const Workload& workload) {
  std::string out;
  for (const Blocker& blocker : Explainer(state).blockers_of(workload)) {
    out += fmt::format("{}{}", out.empty() ? "" : ", ", enum_name(blocker.code));
    if (blocker.short_by > 0) out += " by " + count_text(blocker.short_by, blocker.unit);
  }
  return out;
}

// The lines around the first difference, as a diff would show them.
void show_difference(const std::string& path, const std::string& was, const std::string& is) {
  std::istringstream a(was), b(is);
  std::string left, right;
  for (int line = 1;; ++line) {
    const bool more_left = static_cast<bool>(std::getline(a, left));
    const bool more_right = static_cast<bool>(std::getline(b, right));
    if (more_left && more_right && left == right) continue;
    std::cerr << fmt::format("{}:{}: another outcome\n- {}\n+ {}\n", path, line,
                             more_left ? left : "(end)", more_right ? right : "(end)");
    return;
  }
}

int play(const fs::path& path, bool update) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream content;
  if (!file || !(content << file.rdbuf())) {
    std::cerr << fmt::format("{}: cannot be read\n", path.string());
    return 2;
  }
  const std::string was = content.str();
  const auto is = run_scenario(was, {.source = path.string(), .why_it_waits = blockers_text});
  if (!is) {
    std::cerr << to_text(is.error()) << "\n";
    return 2;
  }
  if (*is == was) return 0;
  if (update) {
    std::ofstream(path, std::ios::binary) << *is;
    std::cout << fmt::format("{}: written\n", path.string());
    return 0;
  }
  show_difference(path.string(), was, *is);
  return 1;
}

std::vector<fs::path> files_of(const fs::path& path) {
  if (!fs::is_directory(path)) return {path};
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(path)) {
    if (entry.path().extension() == ".txt") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace
}  // namespace fairlead

int main(int argc, char** argv) {
  bool update = false;
  int worst = 0;
  int played = 0;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--update") {
      update = true;
      continue;
    }
    for (const auto& path : fairlead::files_of(argv[i])) {
      worst = std::max(worst, fairlead::play(path, update));
      ++played;
    }
  }
  if (played == 0) {
    std::cerr << "usage: scenarios [--update] FILE|FOLDER...\n";
    return 2;
  }
  if (worst == 1)
    std::cerr << "if this is what it should be: scenarios --update, and read the diff\n";
  return worst;
}

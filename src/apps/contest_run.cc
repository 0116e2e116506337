#include "apps/contest_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <filesystem>

#include "apps/arguments.h"
#include "apps/contest_view.h"
#include "apps/policy_input.h"
#include "base/words.h"
#include "io/file.h"

namespace fairlead {
namespace {

constexpr std::string_view kOurs = "fairlead";

// A list of parts: "- {nodes: 32, gpus: 8, model: H100}".
Result<std::vector<contest::FleetPart>> fleet_of_yaml(const std::string& text,
                                                      const std::string& file) {
  std::string parts;
  int line = 1;
  try {
    for (const YAML::Node& part : YAML::Load(text)) {
      line = part.Mark().line + 1;
      parts +=
          fmt::format("{}{} x {} {}", parts.empty() ? "" : ", ", part["nodes"].as<std::string>(),
                      part["gpus"].as<std::string>(), part["model"].as<std::string>(""));
    }
  } catch (const YAML::Exception& problem) {
    return fail("fleet-bad", fmt::format("this is no list of nodes: {}", problem.msg),
                "- {nodes: 32, gpus: 8, model: H100}",
                {.source = file,
                 .line = problem.mark.is_null() ? line : problem.mark.line + 1,
                 .column = 1});
  }
  return contest::read_fleet(parts, file);
}

// "32 x 8 H100", or a file that says so.
Result<std::vector<contest::FleetPart>> fleet_of(const std::string& text) {
  if (text.empty()) return std::vector<contest::FleetPart>{};
  std::error_code error;
  if (!std::filesystem::is_regular_file(text, error)) return contest::read_fleet(text, "--fleet");
  constexpr size_t kFleetFileMax = 1 << 20;
  const auto file = io::read_file(text, kFleetFileMax);
  if (!file) return std::unexpected(file.error());
  const bool yaml = text.ends_with(".yaml") || text.ends_with(".yml");
  return yaml ? fleet_of_yaml(*file, text) : contest::read_fleet(*file, text);
}

Result<contest::MatchOptions> options_of(const ContestArguments& a) {
  contest::MatchOptions options;
  auto fleet = fleet_of(a.fleet);
  if (!fleet) return std::unexpected(fleet.error());
  options.fleet = std::move(*fleet);
  if (a.org.empty()) return options;
  PolicyArguments policy;
  policy.paths = {a.org};
  auto loaded = load_good_policy(policy);
  if (!loaded) return std::unexpected(loaded.error());
  auto zones = read_zones(loaded->checked.organisation);
  if (!zones) return std::unexpected(zones.error());
  options.organisation = std::move(loaded->checked.organisation);
  options.zones = std::move(*zones);
  return options;
}

std::vector<std::string> rules_of(const ContestArguments& a) {
  std::vector<std::string> rules = a.against.empty() ? contest::usual_rules() : a.against;
  if (std::ranges::find(rules, kOurs) == rules.end()) rules.emplace_back(kOurs);
  std::vector<std::string> once;
  for (std::string& rule : rules)
    if (std::ranges::find(once, rule) == once.end()) once.push_back(std::move(rule));
  return once;
}

void show(const contest::ContestProgress& at, bool terminal) {
  if (!terminal) return;
  fmt::print(stderr, "\r{}{}  {} of {} workloads   ", at.rule,
             at.seed > 0 ? fmt::format(", seed {}", at.seed) : "",
             with_thousands(static_cast<int64_t>(at.done)),
             with_thousands(static_cast<int64_t>(at.total)));
}

std::string fleet_text(const contest::Match& match) {
  std::vector<contest::FleetPart> parts;
  for (const contest::NodeGroup& g : match.fleet)
    parts.push_back(
        {.nodes = g.nodes, .each = g.each, .model = match.organisation.devices[g.device].name});
  return contest::to_text(parts);
}

ContestView view_of(const ContestArguments& a, const contest::Match& match) {
  ContestView view{.history = a.history,
                   .organisation = match.organisation.name + " " + match.organisation.version,
                   .fleet = fleet_text(match),
                   .from = instant_of_seconds(match.jobs.front().submit),
                   .until = instant_of_seconds(match.jobs.back().submit),
                   .workloads = std::ssize(match.jobs),
                   .seeds = a.seeds,
                   .rules = {},
                   .notes = match.notes,
                   .digest = {},
                   .repeat = {}};
  for (const contest::NodeGroup& g : match.fleet) view.gpus += int64_t{g.nodes} * g.each;
  return view;
}

}  // namespace

std::string shell_word(const std::string& text) {
  const bool plain = !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-_./,:+=@%").contains(c);
  });
  if (plain) return text;
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

void add_contest_options(CLI::App& c, ContestArguments& a) {
  c.add_option("--org", a.org,
               "the organisation's files: the history under its rules, beside --against");
  c.add_option("--fleet", a.fleet,
               "what there is: \"32 x 8 H100, 16 x 4 A100\" (nodes x devices model), or a file "
               "of such lines; without it, deduced from the history");
  c.add_option("--against", a.against,
               fmt::format("rules beside ours, with commas between: {}",
                           fmt::join(contest::rule_names(), ", ")))
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(one_of(contest::rule_names()));
  c.add_option("--seeds", a.seeds,
               "play so many slightly changed histories too, and print how far results vary")
      ->check(a_number(1, 10'000));
}

int run_contest(Program& p, const ContestArguments& a, const History& history) {
  const auto options = options_of(a);
  if (!options) return complain(options.error());
  const auto match = contest::match_of(history, *options);
  if (!match) return complain(match.error());
  ContestView view = view_of(a, *match);
  const std::vector<std::string> rules = rules_of(a);
  const bool terminal = ::isatty(STDERR_FILENO) != 0;
  view.rules = contest::play_contest(
      *match, {.rules = rules, .seeds = a.seeds, .progress = [&](const auto& at) {
                 show(at, terminal);
                 return true;
               }});
  if (terminal) fmt::print(stderr, "\r{:90}\r", "");
  if (!match->native && std::ranges::find(rules, contest::kNative) != rules.end())
    view.notes.push_back("the history has no start times: there is no native to compare with");
  if (match->native)
    view.notes.push_back(
        "native is the history itself, on the nodes it had, whatever --fleet says: its waits "
        "hold what the site knew and we do not (dependencies, reservations, nodes that were down)");
  view.digest = to_text(contest::digest_of(view.rules));
  view.repeat =
      fmt::format("{}{} --fleet {} --against {}{}", a.again,
                  a.org.empty() ? "" : " --org " + shell_word(a.org), shell_word(view.fleet),
                  fmt::join(rules, ","), a.seeds > 0 ? fmt::format(" --seeds {}", a.seeds) : "");
  if (p.output.format == "html") return print(contest_html(view));
  return print_view(std::move(view), p.output, contest_text, contest_table,
                    [](ContestView& v) { return &v.rules; });
}

}  // namespace fairlead

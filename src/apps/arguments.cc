#include "apps/arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>

#include "apps/config.h"
#include "base/words.h"
#include "io/url.h"
#include "views/window.h"

namespace fairlead {
namespace {

// A validator's text is the sentence and, on a line of its own, the hint.
std::string refused(const std::string& sentence, const std::string& hint) {
  return sentence + "\n" + hint;
}

CLI::Validator validator(std::function<std::string(std::string&)> check) {
  return CLI::Validator(std::move(check), "");
}

std::string lower_first(std::string text) {
  if (!text.empty() && text[0] >= 'A' && text[0] <= 'Z') text[0] = static_cast<char>(text[0] + 32);
  while (text.ends_with('.') || text.ends_with('\n')) text.pop_back();
  return text;
}

// The command whose words were being read.
const CLI::App& reached(const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  return parsed.empty() ? app : reached(*parsed.back());
}

std::string help_of(const CLI::App& app, const CLI::App& command) {
  return &app == &command ? "fairlead --help" : "fairlead " + command.get_name() + " --help";
}

Diagnostic usage(std::string message, std::string hint) {
  return {.code = "usage", .message = std::move(message), .place = {}, .hint = std::move(hint)};
}

Diagnostic unexpected_word(const CLI::App& app) {
  const CLI::App& command = reached(app);
  const std::string help = fmt::format("`{}` lists what there is", help_of(app, command));
  const std::vector<std::string> left = app.remaining(true);
  const auto option =
      std::ranges::find_if(left, [](const std::string& word) { return word.starts_with('-'); });
  if (option == left.end())
    return usage(fmt::format("'{}' is one word too many", left.empty() ? "" : left[0]), help);
  const std::string name = option->substr(0, option->find('='));
  std::vector<std::string> known;
  for (const CLI::Option* o : command.get_options())
    known.insert(known.end(), o->get_lnames().begin(), o->get_lnames().end());
  const std::string nearest = nearest_word(
      std::string_view(name).substr(std::min(name.find_first_not_of('-'), name.size())), known);
  return usage(fmt::format("unknown option '{}' of {}", name,
                           &app == &command ? "fairlead" : command.get_name()),
               nearest.empty() ? help : fmt::format("did you mean '--{}'?", nearest));
}

}  // namespace

CLI::Validator one_of(const std::vector<std::string>& words) {
  return validator([words](std::string& text) {
    if (std::ranges::find(words, text) != words.end()) return std::string();
    const std::string nearest = nearest_word(text, words);
    return refused(fmt::format("'{}' is none of {}", text, fmt::join(words, ", ")),
                   nearest.empty() ? "" : fmt::format("did you mean '{}'?", nearest));
  });
}

CLI::Validator a_duration() {
  return validator([](std::string& text) {
    const auto d = parse_duration(text);
    return d && d->us > 0
               ? std::string()
               : refused(fmt::format("'{}' is no duration above zero", text), "90s, 15m or 2h30m");
  });
}

CLI::Validator a_number(int64_t least, int64_t most) {
  return validator([least, most](std::string& text) {
    int64_t n = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
    const bool good = error == std::errc{} && end == text.data() + text.size() && n >= least;
    return good && n <= most
               ? std::string()
               : refused(fmt::format("'{}' is no number from {} to {}", text, least, most), "");
  });
}

CLI::Validator a_begin() {
  return validator([](std::string& text) {
    const auto begin = since_of(text, instant_of_seconds(2'000'000'000));
    return begin ? std::string() : refused(begin.error().message, begin.error().hint);
  });
}

CLI::Validator a_listen_address() {
  return validator([](std::string& text) {
    return is_listen_address(text) ? std::string()
                                   : refused(fmt::format("'{}' is no address to listen on", text),
                                             "127.0.0.1:7077 or unix:/run/fairlead.sock");
  });
}

CLI::Validator a_url() {
  return validator([](std::string& text) {
    const auto url = io::parse_url(text);
    return url ? std::string() : refused(url.error().message, url.error().hint);
  });
}

Diagnostic usage_problem(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& command = reached(app);
  const std::string help = fmt::format("`{}` shows how", help_of(app, command));
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) return unexpected_word(app);
  const std::string said = error.what();
  const size_t line = said.find('\n');
  std::string hint = line == said.npos ? "" : said.substr(line + 1);
  if (hint.empty()) hint = help;
  return usage(lower_first(said.substr(0, line)), hint);
}

std::optional<Diagnostic> unknown_command(const CLI::App& app, int argc, const char* const* argv) {
  if (argc < 2 || argv[1][0] == '-') return {};
  const std::string word = argv[1];
  for (const CLI::App* c : app.get_subcommands({})) {
    if (c->get_name() == word) return {};
  }
  std::vector<std::string> known;
  for (const CLI::App* c : commands_of(app)) known.push_back(c->get_name());
  return usage(fmt::format("unknown command '{}'", word), hint_for_unknown(word, known));
}

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  std::vector<const CLI::App*> commands;
  for (const CLI::App* c : app.get_subcommands({})) {
    if (!c->get_group().empty()) commands.push_back(c);
  }
  return commands;
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* o : command.get_options()) {
    for (const std::string& name : o->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : o->get_snames()) names.push_back("-" + name);
  }
  return names;
}

}  // namespace fairlead

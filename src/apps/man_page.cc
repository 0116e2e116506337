#include "apps/man_page.h"

#include <fmt/format.h>

#include "apps/arguments.h"
#include "apps/config_keys.h"
#include "base/words.h"

namespace fairlead {
namespace {

// roff obeys a dot or a quote at the begin of a line, and reads '-' as a hyphen.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n'))
      out += std::string("\\&") + c;
    else
      out += c;
  }
  return out;
}

std::string section(std::string_view title, const std::string& text) {
  return text.empty() ? "" : fmt::format(".SH {}\n{}", title, text);
}

std::string options_of(const CLI::App& c) {
  std::string out;
  for (const CLI::Option* o : c.get_options()) {
    const bool value = o->get_items_expected_max() > 0;
    const std::string name = o->get_positional() ? o->get_name(true) : o->get_name(false, true);
    out += fmt::format(".TP\n\\fB{}\\fR{}\n{}\n", roff(name),
                       value && !o->get_positional() ? " \\fIvalue\\fR" : "",
                       roff(o->get_description()));
  }
  return out;
}

std::string examples_of(const CLI::App& c) {
  const std::string footer = c.get_footer();
  const size_t at = footer.find('\n');
  return at == footer.npos ? "" : ".nf\n" + roff(footer.substr(at + 1)) + "\n.fi\n";
}

std::string synopsis_of(const CLI::App& c, const std::string& name) {
  std::string out = ".B " + roff(name) + "\n";
  for (const CLI::Option* o : c.get_options()) {
    if (!o->get_positional()) continue;
    const std::string word = "\\fI" + roff(o->get_name(true)) + "\\fR";
    out += (o->get_required() ? word : "[" + word + "]") + "\n";
  }
  return out + "[\\fIoptions\\fR]\n";
}

std::string commands_text(const CLI::App& app) {
  std::string out;
  for (const CLI::App* c : commands_of(app))
    out += fmt::format(".TP\n\\fBfairlead {}\\fR\n{}; see fairlead\\-{}(1)\n", roff(c->get_name()),
                       roff(c->get_description()), roff(c->get_name()));
  return out;
}

std::string variables_text() {
  std::string out = ".TP\n\\fBFAIRLEAD_SERVER\\fR\nthe daemon to ask\n";
  for (const ConfigKey& key : config_key_table())
    out += fmt::format(".TP\n\\fB{}\\fR\n{}\n", key.variable(), roff(key.meaning));
  return out;
}

constexpr std::string_view kExitText =
    "0 good; 1 a check found something; 2 wrong use; 3 cannot reach what is needed; 4 not "
    "allowed; 5 input refused.\n";

}  // namespace

Result<std::string> man_page(const CLI::App& app, const std::string& command) {
  const CLI::App* c = &app;
  std::vector<std::string> known;
  for (const CLI::App* one : commands_of(app)) {
    known.push_back(one->get_name());
    if (known.back() == command) c = one;
  }
  const bool whole = command.empty();
  if (!whole && c == &app)
    return fail("usage", fmt::format("no command is named '{}'", command),
                hint_for_unknown(command, known));
  const std::string name = whole ? "fairlead" : "fairlead " + command;
  const std::string page = whole ? "fairlead" : "fairlead-" + command;
  std::string out =
      fmt::format(".TH {} 1 \"\" \"{}\" \"Fairlead\"\n", roff(page), roff(app.version()));
  out += section("NAME", fmt::format("{} \\- {}\n", roff(page), roff(c->get_description())));
  out += section("SYNOPSIS", synopsis_of(*c, name));
  if (whole) out += section("COMMANDS", commands_text(app));
  out += section("OPTIONS", options_of(*c));
  if (whole) out += section("ENVIRONMENT", variables_text());
  out += section("EXIT STATUS", std::string(kExitText));
  return out + section("EXAMPLES", examples_of(*c));
}

}  // namespace fairlead

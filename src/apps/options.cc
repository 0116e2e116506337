// What several commands have in common.
#include <fmt/format.h>
#include <unistd.h>

#include "apps/arguments.h"
#include "apps/commands.h"

namespace fairlead {
namespace {

// Repeats `show` on a cleared screen until it is interrupted.
int repeat(const std::function<int()>& show, Asker& asker, Duration period) {
  while (true) {
    if (on_terminal()) print("\x1b[H\x1b[2J");
    if (const int code = show(); code != kExitGood) return code;
    ::usleep(static_cast<useconds_t>(period.us));
    asker.forget_look();
  }
}

}  // namespace

CLI::App* add_command(Program& p, const std::string& name, const std::string& about,
                      const std::string& examples) {
  CLI::App* c = p.app.add_subcommand(name, about);
  c->footer("examples:\n" + examples);
  return c;
}

void add_output_options(CLI::App& c, Program& p, bool html) {
  std::vector<std::string> forms = {"table", "wide", "json", "yaml", "csv", "name"};
  if (html) forms.emplace_back("html");
  c.add_option(
       "-o,--output", p.output.format,
       html ? "table, wide, json, yaml, csv, name or html" : "table, wide, json, yaml, csv or name")
      ->check(one_of(forms));
  c.add_flag("!--no-headers", p.output.headers, "no column titles");
  c.add_option("--filter", p.output.query.filters,
               "rows of which this holds: team=research, 'gpus>8', state!=idle; may be repeated")
      ->allow_extra_args(false);
  c.add_option("--sort", p.output.query.sort,
               "by a field as JSON calls it, numbers with the most first; :asc or :desc behind it");
  c.add_option("-n,--limit", p.output.query.limit, "so many rows at most")
      ->check(a_number(1, 1'000'000));
}

void add_look_options(CLI::App& c, Program& p) {
  for (const ConfigKey& key : config_key_table()) {
    if (key.option.empty()) continue;
    CLI::Option* option = c.add_option_function<std::vector<std::string>>(
        std::string(key.option),
        [&p, &key](const std::vector<std::string>& texts) {
          Config config;
          SiteConfig site;
          if (const auto wrong = set_key(key, config, site, texts))
            throw CLI::ValidationError(std::string(key.option),
                                       wrong->message + "\n" + wrong->hint);
          p.ask.settings.push_back({&key, texts});
        },
        fmt::format("{} ({})", key.meaning, key.variable()));
    option->allow_extra_args(false);
    if (!key.is_list()) option->take_last();
  }
}

void add_ask_options(CLI::App& c, Program& p) {
  c.add_option("--server", p.ask.server,
               "the daemon: unix:/path or http://host:port (FAIRLEAD_SERVER)");
  c.add_option("--site", p.ask.site, "which of its sites");
  c.add_flag("--local", p.ask.local, "look ourselves, also where a daemon runs");
  add_look_options(c, p);
}

void add_watch_option(CLI::App& c, Program& p) {
  c.add_option("--watch", p.watch, "repeat every so often, until interrupted (2s)")
      ->expected(0, 1)
      ->default_str("2s")
      ->check(a_duration());
}

void add_since_option(CLI::App& c, std::string& since) {
  c.add_option("--since", since,
               "from then on (7d, 2026-01-31, 2026-01-31T08:00:00Z); to the full hour")
      ->check(a_begin());
}

void set_run(Program& p, std::function<int(Asker&)> show) {
  p.run = [&p, show = std::move(show)] {
    Asker asker(p.ask);
    if (p.watch.empty()) return show(asker);
    return repeat([&] { return show(asker); }, asker, *parse_duration(p.watch));
  };
}

}  // namespace fairlead

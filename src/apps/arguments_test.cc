#include "apps/arguments.h"

#include <gtest/gtest.h>

#include "apps/commands.h"
#include "apps/man_page.h"

namespace fairlead {
namespace {

void add_all(Program& p) {
  p.app.name("fairlead");
  p.app.set_version_flag("--version", "fairlead 1.2.3");
  p.app.require_subcommand(1);
  add_report_commands(p);
  add_top_command(p);
  add_read_commands(p);
  add_fabric_command(p);
  add_serve_command(p);
  add_doctor_command(p);
  add_replay_command(p);
  add_completion_commands(p);
}

// What the program says of a command line; empty where it is good.
std::string refusal(const std::vector<const char*>& words) {
  Program p;
  add_all(p);
  std::vector<const char*> argv = {"fairlead"};
  argv.insert(argv.end(), words.begin(), words.end());
  const auto argc = static_cast<int>(argv.size());
  if (const auto unknown = unknown_command(p.app, argc, argv.data())) return to_text(*unknown);
  try {
    p.app.parse(argc, argv.data());
  } catch (const CLI::ParseError& error) {
    return to_text(usage_problem(p.app, error));
  }
  return "";
}

struct UsageRow {
  std::string_view name;
  std::vector<const char*> words;
  std::string_view want;  // in the text; empty: it is good
  std::string_view want_help = "";
};

TEST(Arguments, WrongUseIsToldInOneForm) {
  const UsageRow rows[] = {
      {"good", {"report", "--since", "7d", "--by", "user"}, ""},
      {"a day", {"report", "--since", "2026-11-30"}, ""},
      {"a command one letter off", {"repot"}, "unknown command 'repot'", "did you mean 'report'?"},
      {"a command far off", {"dance"}, "unknown command 'dance'", "known: observe, report"},
      {"no command", {}, "subcommand is required", "fairlead --help"},
      {"an option one letter off",
       {"report", "--sicne", "7d"},
       "unknown option '--sicne' of report",
       "did you mean '--since'?"},
      {"an option far off",
       {"report", "--dance"},
       "unknown option '--dance' of report",
       "fairlead report --help"},
      {"a format that is none", {"report", "-o", "pdf"}, "'pdf' is none of table, wide"},
      {"HTML where there is none", {"queue", "-o", "html"}, "'html' is none of"},
      {"HTML where there is one", {"report", "-o", "html"}, ""},
      {"no time", {"report", "--since", "nonsense"}, "'nonsense' is no duration"},
      {"no time for the ledger",
       {"ledger", "show", "--since", "nonsense"},
       "'nonsense' is no duration"},
      {"by nothing known", {"report", "--by", "nod"}, "'nod' is none of", "did you mean 'node'?"},
      {"no address", {"serve", "--listen", "foo"}, "'foo' is no address to listen on"},
      {"no port", {"serve", "--listen-http", "127.0.0.1:x"}, "is no address to listen on"},
      {"no URL", {"observe", "--prometheus", "prom:9090"}, "'prom:9090' is no address"},
      {"no way to Slurm",
       {"observe", "--via", "magic"},
       "'via' cannot be 'magic'",
       "one of auto, bridge"},
      {"no number", {"queue", "-n", "many"}, "'many' is no number from 1"},
      {"no rows", {"queue", "-n", "0"}, "'0' is no number from 1"},
      {"no duration", {"observe", "--for", "long"}, "'long' is no duration above zero"},
      {"a value is missing", {"queue", "--sort"}, "--sort"},
      {"a word too many", {"queue", "4242"}, "'4242' is one word too many"},
      {"filters do not eat what follows", {"explain", "--filter", "code=A", "4242"}, ""},
  };
  for (const UsageRow& row : rows) {
    SCOPED_TRACE(row.name);
    const std::string text = refusal(row.words);
    EXPECT_EQ(text.empty(), row.want.empty()) << text;
    EXPECT_TRUE(text.contains(row.want)) << text;
    EXPECT_TRUE(text.contains(row.want_help)) << text;
    if (!text.empty()) EXPECT_TRUE(text.contains("[usage]\n  help: ")) << text;
  }
}

TEST(Arguments, HiddenCommandsStayHidden) {
  Program p;
  add_all(p);
  for (const CLI::App* c : commands_of(p.app)) EXPECT_FALSE(c->get_name().starts_with("_"));
}

TEST(ManPages, HaveEveryCommandAndOption) {
  Program p;
  add_all(p);
  const auto whole = man_page(p.app, "");
  ASSERT_TRUE(whole);
  for (const CLI::App* c : commands_of(p.app)) {
    SCOPED_TRACE(c->get_name());
    EXPECT_TRUE(whole->contains("\\fBfairlead " + c->get_name()));
    const auto page = man_page(p.app, c->get_name());
    ASSERT_TRUE(page);
    EXPECT_TRUE(page->starts_with(".TH fairlead\\-" + c->get_name() + " 1"));
    EXPECT_TRUE(page->contains(".SH EXAMPLES\n.nf\n  ")) << *page;
    for (std::string name : option_names(*c)) {
      for (size_t at = 0; (at = name.find('-', at)) != name.npos; at += 2) name.insert(at, "\\");
      EXPECT_TRUE(page->contains(name)) << name;
    }
  }
  EXPECT_TRUE(whole->contains("FAIRLEAD_SLURM_VIA"));
  EXPECT_EQ(man_page(p.app, "repot").error().hint, "did you mean 'report'?");
}

}  // namespace
}  // namespace fairlead

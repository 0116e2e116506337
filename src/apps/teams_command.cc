// fairlead teams: who owns, holds and waits for how much.
#include "apps/commands.h"
#include "present/teams_text.h"

namespace fairlead {
namespace {

int show_teams(Program& p, Asker& asker) {
  const auto list = asker.ask<TeamList>(
      "/v1/teams", [](const Engine& e) -> Result<TeamList> { return teams_of(e.state()); });
  if (!list) return complain(list.error());
  return print_view(*list, p.output, teams_text, teams_table, [](TeamList& l) { return &l.teams; });
}

}  // namespace

void add_teams_command(Program& p) {
  CLI::App* c =
      add_command(p, "teams", "the tree of teams: own, used, borrowed, headroom, waiting, share",
                  "  fairlead teams\n  fairlead teams --org /etc/fairlead/org --filter device=H100 "
                  "--sort headroom_milli -o wide");
  add_watch_option(*c, p);
  add_ask_options(*c, p);
  add_output_options(*c, p);
  c->callback([&p] { set_run(p, [&p](Asker& a) { return show_teams(p, a); }); });
}

}  // namespace fairlead

// fairlead completion bash|zsh|fish: made from the command line's own definition.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/arguments.h"
#include "apps/commands.h"
#include "apps/man_page.h"
#include "contest/contest.h"
#include "views/report.h"

namespace fairlead {
namespace {

std::string bash(const CLI::App& app) {
  std::string out =
      "_fairlead() {\n  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} "
      "command=${COMP_WORDS[1]} words=\n";
  out +=
      "  case $prev in\n    -o|--output) COMPREPLY=($(compgen -W 'table wide json yaml csv name "
      "html' -- \"$cur\")); return ;;\n";
  out += fmt::format("    --against) COMPREPLY=($(compgen -W '{}' -- \"$cur\")); return ;;\n",
                     fmt::join(contest::rule_names(), " "));
  out +=
      "    --by) COMPREPLY=($(compgen -W 'team class user node partition model' -- \"$cur\")); "
      "return "
      ";;\n  esac\n";
  out += "  if [ \"$COMP_CWORD\" = 1 ]; then words='";
  for (const CLI::App* c : commands_of(app)) out += c->get_name() + " ";
  out += "--help --version'\n  else\n    case $command in\n";
  for (const CLI::App* c : commands_of(app)) {
    out +=
        fmt::format("      {}) words='{}' ;;\n", c->get_name(), fmt::join(option_names(*c), " "));
  }
  out +=
      "    esac\n    case $command in explain|place) case $cur in -*) ;; *) words=$(fairlead "
      "__complete "
      "workloads 2>/dev/null) ;; esac ;; esac\n";
  out +=
      "    case $command in fabric) words=\"$words show tree path\" ;; ledger) words=\"$words show "
      "verify\" ;; policy) words=\"$words check fmt test diff explain import slurm kueue\" ;; "
      "completion) words='bash zsh "
      "fish man' ;; esac\n";
  out +=
      "    case $command in replay|simulate|place) COMPREPLY=($(compgen -f -- \"$cur\") $(compgen "
      "-W \"$words\" "
      "-- \"$cur\")); return ;; esac\n";
  return out +
         "  fi\n  COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n}\ncomplete -F _fairlead "
         "fairlead\n";
}

std::string fish(const CLI::App& app) {
  std::string out = "complete -c fairlead -f\n";
  for (const CLI::App* c : commands_of(app)) {
    std::string about = c->get_description();
    std::erase(about, '\'');
    out += fmt::format("complete -c fairlead -n __fish_use_subcommand -a {} -d '{}'\n",
                       c->get_name(), about);
    for (const CLI::Option* o : c->get_options()) {
      for (const std::string& name : o->get_lnames()) {
        std::string text = o->get_description();
        std::erase(text, '\'');
        out +=
            fmt::format("complete -c fairlead -n '__fish_seen_subcommand_from {}' -l {} -d '{}'\n",
                        c->get_name(), name, text);
      }
    }
  }
  return out +
         "complete -c fairlead -n '__fish_seen_subcommand_from explain' -a '(fairlead __complete "
         "workloads)'\n"
         "complete -c fairlead -n '__fish_seen_subcommand_from place' -a '(fairlead __complete "
         "workloads)'\n"
         "complete -c fairlead -n '__fish_seen_subcommand_from replay simulate place' -F\n";
}

std::string script(const CLI::App& app, const std::string& shell) {
  if (shell == "fish") return fish(app);
  if (shell == "zsh")
    return "#compdef fairlead\nautoload -U +X bashcompinit && bashcompinit\n" + bash(app);
  return bash(app);
}

// Names that a shell asks for while one types. Only of a daemon: a look of our own would take too
// long.
int complete_names(Program& p) {
  Asker asker(p.ask);
  const auto server = asker.server_address();
  if (!server) return kExitGood;
  const auto body = asker.fetch(*server, "/v1/queue?limit=500");
  if (!body) return kExitGood;
  const auto queue = json::from_json<Queue>(*body);
  std::string names;
  if (queue) {
    for (const WaitingRow& row : queue->waiting) names += row.workload + "\n";
  }
  return print(names);
}

}  // namespace

void add_completion_commands(Program& p) {
  auto shell = std::make_shared<std::string>();
  auto page = std::make_shared<std::string>();
  CLI::App* c = add_command(
      p, "completion", "shell completion, and the manual's pages",
      "  source <(fairlead completion bash)\n  fairlead completion fish > "
      "~/.config/fish/completions/fairlead.fish\n  fairlead completion man report | man -l -");
  c->add_option("shell", *shell, "bash, zsh, fish or man")
      ->required()
      ->check(one_of({"bash", "zsh", "fish", "man"}));
  c->add_option("command", *page, "of man: the command, else fairlead's own page");
  c->callback([&p, shell, page] {
    p.run = [&p, shell, page] {
      if (*shell != "man") return print(script(p.app, *shell));
      const auto text = man_page(p.app, *page);
      return text ? print(*text) : complain(text.error());
    };
  });
  CLI::App* hidden = p.app.add_subcommand("__complete", "")->group("");
  auto what = std::make_shared<std::string>();
  hidden->add_option("what", *what);
  hidden->callback([&p, what] { p.run = [&p] { return complete_names(p); }; });
}

}  // namespace fairlead

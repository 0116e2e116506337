// fairlead fabric: the fleet as a table or a tree, the path between two nodes, what changed.
#include <fmt/format.h>

#include <filesystem>

#include "apps/arguments.h"
#include "apps/commands.h"
#include "io/file.h"
#include "present/fabric_text.h"
#include "present/node_text.h"
#include "views/fabric_log.h"
#include "views/window.h"

namespace fairlead {
namespace {

int show_fabric(Program& p, const Fabric& fabric, bool tree) {
  return print_view(
      fabric, p.output,
      [tree](const Fabric& f, const TextOptions& t) {
        return tree ? fabric_tree(f, t) : fabric_text(f, t);
      },
      fabric_table, [](Fabric& f) { return &f.nodes; });
}

int show_path(Program& p, const Fabric& fabric, const std::vector<std::string>& ends) {
  const auto path = path_between(fabric, ends[0], ends[1]);
  if (!path) return complain(path.error());
  return print_view(*path, p.output, fabric_path_text, fabric_path_table,
                    [](FabricPath& f) { return &f.stops; });
}

Result<Fabric> ask_fabric(Asker& asker) {
  return asker.ask<Fabric>("/v1/fabric",
                           [](const Engine& e) -> Result<Fabric> { return fabric_of(e.state()); });
}

bool is_file(const std::string& word) {
  std::error_code error;
  return std::filesystem::is_regular_file(word, error);
}

// What `fabric -o json` wrote, or what is now.
Result<Fabric> saved_or_now(Asker& asker, const std::string& word) {
  if (word == "now") return ask_fabric(asker);
  const auto text = io::read_file(word, size_t{1} << 30);
  if (!text) return std::unexpected(text.error());
  auto fabric = json::from_json<Fabric>(*text);
  if (fabric && fabric->kind == "Fabric") return fabric;
  return fail("fabric-bad", fmt::format("'{}' is no saved fabric", word),
              "`fairlead fabric -o json` writes one");
}

// Between two saved views, or two times of which the daemon keeps the changes.
Result<FabricDiff> ask_diff(Asker& asker, const std::string& from, const std::string& to) {
  if (is_file(from)) {
    const auto before = saved_or_now(asker, from);
    if (!before) return std::unexpected(before.error());
    const auto after = saved_or_now(asker, to);
    if (!after) return std::unexpected(after.error());
    return diff_of(*before, *after);
  }
  for (const std::string& word : {from, to}) {
    if (word == "now") continue;
    if (const auto at = since_of(word, instant_of_seconds(2'000'000'000)); !at)
      return fail("since-bad", fmt::format("'{}' is neither a file nor a time", word),
                  at.error().hint + ", or what `fairlead fabric -o json` wrote");
  }
  const std::string path = "/v1/fabric/diff?from=" + io::percent_encode(from) +
                           (to == "now" ? "" : "&to=" + io::percent_encode(to));
  return asker.ask<FabricDiff>(path, [](const Engine&) -> Result<FabricDiff> {
    return fail("look-only-now", "without a daemon only what is now is known",
                "`fairlead fabric -o json > today.json` keeps it for a later diff");
  });
}

int show_diff(Program& p, Asker& asker, const std::vector<std::string>& ends) {
  const auto diff = ask_diff(asker, ends[0], ends.size() > 1 ? ends[1] : "now");
  if (!diff) return complain(diff.error());
  return print_view(*diff, p.output, fabric_diff_text, fabric_diff_table,
                    [](FabricDiff& d) { return &d.changes; });
}

int show(Program& p, Asker& asker, const std::string& form, const std::vector<std::string>& words) {
  if (form == "diff") {
    if (words.empty())
      return complain_usage("a diff is between two times", "fairlead fabric diff 2h now");
    return show_diff(p, asker, words);
  }
  if (form == "path" && words.size() != 2)
    return complain_usage("a path lies between two nodes", "fairlead fabric path n001 n017");
  if (form != "path" && !words.empty())
    return complain_usage(fmt::format("'{}' is one word too many", words[0]),
                          "fairlead fabric path n001 n017");
  const auto fabric = ask_fabric(asker);
  if (!fabric) return complain(fabric.error());
  return form == "path" ? show_path(p, *fabric, words) : show_fabric(p, *fabric, form == "tree");
}

}  // namespace

void add_fabric_command(Program& p) {
  CLI::App* fabric = add_command(
      p, "fabric", "the nodes and switches, their GPUs by column, and the age of each fact",
      "  fairlead fabric --filter state=idle\n  fairlead fabric path n001 n017\n"
      "  fairlead fabric diff 2h now\n  fairlead fabric diff monday.json");
  auto form = std::make_shared<std::string>("show");
  auto words = std::make_shared<std::vector<std::string>>();
  fabric->add_option("form", *form, "show, tree, path or diff")
      ->check(one_of({"show", "tree", "path", "diff"}));
  fabric
      ->add_option("words", *words,
                   "path: two nodes; diff: two times, or files that fabric -o json wrote")
      ->expected(0, 2);
  add_ask_options(*fabric, p);
  add_output_options(*fabric, p);
  fabric->callback([&p, form, words] {
    set_run(p, [&p, form, words](Asker& a) { return show(p, a, *form, *words); });
  });
}

}  // namespace fairlead

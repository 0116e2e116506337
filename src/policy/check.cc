#include "policy/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "policy/check_parts.h"
#include "policy/parser.h"

namespace fairlead::policy {
namespace {

using lang::in_quotes;

// The header stands in one file at least; where several state it, they say the same.
void check_headers(CheckContext& c) {
  if (c.tree.headers.empty()) {
    if (c.sources.size() == 0) return;
    c.error("E812", "no file says which organisation this is", {{0, 0, 0}, ""},
            "begin with `org acme v1`, and `lang 1` on the next line");
    return;
  }
  const HeaderNode& first = c.tree.headers.front();
  c.org.name = first.name.value;
  c.org.version = first.version.value;
  std::map<lang::FileId, Span> of_file;
  for (const HeaderNode& header : c.tree.headers) {
    const auto [before, is_first] = of_file.emplace(header.span.file, header.span);
    if (!is_first) {
      c.error("E105", "`org` is written twice in one file", {header.span, "second time"},
              "keep one of them", {{before->second, "first time"}});
    }
    if (header.name.value == first.name.value && header.version.value == first.version.value)
      continue;
    c.error("E812", "the files of one folder are one organisation, and these two differ",
            {header.span, ""},
            fmt::format("write `org {} {}`, or leave the line out here", first.name.value,
                        first.version.value),
            {{first.span, "stated here"}});
  }
}

// What is left out of the tree by a syntax error may be all that a sum or a test misses; these say
// something of what is there.
bool stands_by_itself(const lang::Diagnostic& d) {
  static const std::set<std::string> kCodes = {"E802", "E803", "E804", "E806",
                                               "E807", "E810", "E811", "E814"};
  return kCodes.contains(d.code);
}

}  // namespace

lang::Diagnostic& CheckContext::error(std::string code, std::string message, lang::Label primary,
                                      std::string hint, std::vector<lang::Label> others) {
  problems.push_back({.code = std::move(code),
                      .message = std::move(message),
                      .primary = std::move(primary),
                      .others = std::move(others),
                      .hint = std::move(hint)});
  return problems.back();
}

lang::Diagnostic& CheckContext::warning(std::string code, std::string message, lang::Label primary,
                                        std::string hint, std::vector<lang::Label> others) {
  lang::Diagnostic& d = error(std::move(code), std::move(message), std::move(primary),
                              std::move(hint), std::move(others));
  d.severity = lang::Severity::warning;
  return d;
}

std::string amount_text(Milli amount, std::string_view device) {
  return fmt::format("{} {}", to_text(amount), device);
}

const AmountNode* amount_of(const std::vector<AmountNode>& written, std::string_view device) {
  const auto found = std::ranges::find(
      written, device, [](const AmountNode& a) -> std::string_view { return a.device.value; });
  return found == written.end() ? nullptr : &*found;
}

Organisation check(const lang::Sources& sources, const Tree& tree, const CheckOptions& options,
                   lang::Diagnostics& problems) {
  CheckContext c{.sources = sources,
                 .tree = tree,
                 .options = options,
                 .problems = problems,
                 .org = {},
                 .team_nodes = {},
                 .class_nodes = {}};
  check_headers(c);
  check_devices(c);
  check_prices(c);
  check_classes(c);
  check_teams(c);
  check_limits(c);
  check_windows(c);
  check_fleet(c);
  check_budgets(c);
  check_class_use(c);
  check_members(c);
  check_reclaim(c);
  check_tests(c);
  return std::move(c.org);
}

Checked check_files(const lang::Sources& sources, const CheckOptions& options) {
  Checked checked;
  std::set<lang::FileId> tables;
  if (options.tables)
    for (const auto& [name, file] : *options.tables) tables.insert(file);
  for (lang::FileId file = 0; file < sources.size(); ++file)
    if (!tables.contains(file)) parse(sources, file, checked.tree, checked.problems);
  checked.parsed = !lang::any_error(checked.problems);
  lang::Diagnostics found;
  checked.organisation = check(sources, checked.tree, options, found);
  for (lang::Diagnostic& d : found)
    if (checked.parsed || stands_by_itself(d)) checked.problems.push_back(std::move(d));
  lang::sort_by_place(checked.problems);
  return checked;
}

}  // namespace fairlead::policy

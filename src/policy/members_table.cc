#include "policy/members_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/words.h"
#include "policy/members_grid.h"

namespace fairlead::policy {
namespace {

using lang::in_quotes;

constexpr size_t kNameMax = 256;  // chosen: longer than any name of Slurm, Kubernetes or LDAP

struct Source {
  std::string_view title;
  MemberSource source;
};
constexpr std::array kSources = {
    Source{"account", MemberSource::slurm_account},
    Source{"user", MemberSource::slurm_user},
    Source{"qos", MemberSource::slurm_qos},
    Source{"partition", MemberSource::slurm_partition},
    Source{"namespace", MemberSource::kubernetes_namespace},
    Source{"label", MemberSource::kubernetes_label},
    Source{"service-account", MemberSource::kubernetes_service_account},
    Source{"group", MemberSource::group}};
constexpr std::string_view kClaim = "claim ";

// What a column is called, as far as we care: `Service_Account` is service-account.
std::string plain(std::string_view title) {
  std::string text;
  for (const char c : title) {
    const bool upper = c >= 'A' && c <= 'Z';
    text += upper ? static_cast<char>(c + ('a' - 'A')) : c == '_' ? '-' : c;
  }
  return text;
}

bool says_who(std::string_view title) {
  return title.starts_with(kClaim) ||
         std::ranges::find(kSources, title, &Source::title) != kSources.end();
}

struct Columns {
  size_t who = 0;
  std::optional<size_t> team;
};

void refuse(lang::Diagnostics& problems, std::string message, lang::Label place, std::string hint,
            std::vector<lang::Label> others = {}) {
  problems.push_back({.code = "E814",
                      .message = std::move(message),
                      .primary = std::move(place),
                      .others = std::move(others),
                      .hint = std::move(hint)});
}

std::optional<Columns> columns_of(const MembersGrid& grid, lang::Diagnostics& problems) {
  std::optional<size_t> who, team;
  for (size_t i = 0; i < grid.titles.size(); ++i) {
    const std::string title = plain(grid.titles[i].value);
    if (title == "team" && !team) team = i;
    if (!says_who(title)) continue;
    if (who) {
      refuse(problems,
             fmt::format("{} and {} both say who: which of them counts?",
                         in_quotes(grid.titles[*who].value), in_quotes(grid.titles[i].value)),
             {grid.titles[i].span, "and this"},
             "keep one of the two columns, or make a table of each",
             {{grid.titles[*who].span, "this"}});
      return std::nullopt;
    }
    who = i;
  }
  if (who) return Columns{*who, team};
  std::vector<std::string> known;
  for (const Source& s : kSources) known.emplace_back(s.title);
  for (const Word& title : grid.titles) {
    const std::string meant = nearest_word(plain(title.value), known);
    if (meant.empty()) continue;
    refuse(problems, "no column says who is a member", {title.span, "unknown column"},
           fmt::format("did you mean {}?", in_quotes(meant)));
    return std::nullopt;
  }
  refuse(problems, "no column says who is a member",
         {grid.titles.empty() ? Span{grid.file, 0, 0} : grid.titles.front().span, ""},
         fmt::format("name one of them {}", fmt::join(known, ", ")));
  return std::nullopt;
}

bool has_control_character(std::string_view text) {
  return std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20; });
}

}  // namespace

void OddRows::tell(std::string message, lang::Label place, std::string hint,
                   std::vector<lang::Label> others) {
  if (++count_ == kOddRowsTold + 1) untold_ = place.span;
  if (count_ > kOddRowsTold) return;
  problems_.push_back({.severity = lang::Severity::warning,
                       .code = "W816",
                       .message = std::move(message),
                       .primary = std::move(place),
                       .others = std::move(others),
                       .hint = std::move(hint)});
}

OddRows::~OddRows() {
  if (count_ <= kOddRowsTold) return;
  problems_.push_back(
      {.severity = lang::Severity::warning,
       .code = "W816",
       .message = fmt::format("{} more rows are left out", with_thousands(count_ - kOddRowsTold)),
       .primary = {untold_, ""},
       .others = {},
       .hint = "mend those that are told, and check again"});
}

std::optional<MembersTable> read_members_table(const lang::Sources& sources, lang::FileId file,
                                               lang::Diagnostics& problems) {
  OddRows odd(problems);
  const auto grid = read_members_grid(sources, file, odd, problems);
  if (!grid) return std::nullopt;
  if (grid->rows.empty()) {
    odd.tell("this table lists nobody", {{file, 0, 0}, ""}, "delete the line that names it");
    return MembersTable{.source = {}, .claim = {}, .rows = {}};
  }
  const auto columns = columns_of(*grid, problems);
  if (!columns) return std::nullopt;
  MembersTable table;
  const std::string title = plain(grid->titles[columns->who].value);
  if (title.starts_with(kClaim)) {
    table.source = MemberSource::claim;
    table.claim = grid->titles[columns->who].value.substr(kClaim.size());
  } else {
    table.source = std::ranges::find(kSources, title, &Source::title)->source;
  }
  for (const std::vector<Word>& cells : grid->rows) {
    const Word& who = cells[columns->who];
    if (who.value.empty()) {
      odd.tell(fmt::format("this row has no {}, so it is left out", title), {who.span, ""},
               "give it one, or delete the row");
    } else if (who.value.size() > kNameMax || has_control_character(who.value)) {
      odd.tell(fmt::format("this is no name of {} {}, so the row is left out",
                           title == "account" ? "an" : "a", title),
               {who.span, who.value.size() > kNameMax ? "too long" : "has a control character"},
               "mend it, or delete the row");
    } else {
      table.rows.push_back({who, columns->team ? cells[*columns->team] : Word{}});
    }
  }
  return table;
}

}  // namespace fairlead::policy

#include "policy/identity.h"

#include <algorithm>

#include "base/words.h"

namespace fairlead::policy {

Directory::Directory(Organisation organisation, const Groups& groups)
    : organisation_(std::move(organisation)) {
  for (Rule rule = 0; rule < organisation_.members.size(); ++rule) {
    const MemberRule& member = organisation_.members[rule];
    Names& names = names_[{member.source, member.claim}];
    if (member.pattern.contains('*'))
      names.patterns.push_back(rule);
    else
      names.exact.emplace(member.pattern, rule);
  }
  if (const auto accounts = names_.find({MemberSource::slurm_account, ""});
      accounts != names_.end())
    for (const auto& [account, rule] : accounts->second.exact) accounts_.push_back(account);
  for (const auto& [group, users] : groups)
    for (const std::string& user : users) groups_[user].push_back(group);
}

const std::vector<std::string>& Directory::groups_of(std::string_view user) const {
  static const std::vector<std::string> kNone;
  const auto found = groups_.find(user);
  return found == groups_.end() ? kNone : found->second;
}

std::optional<Directory::Rule> Directory::first_match(const Identity& identity) const {
  const auto names = names_.find({identity.source, identity.claim});
  if (names == names_.end()) return std::nullopt;
  std::optional<Rule> first;
  if (const auto exact = names->second.exact.find(identity.value);
      exact != names->second.exact.end())
    first = exact->second;
  for (const Rule rule : names->second.patterns) {
    if (first && *first < rule) break;
    if (matches(organisation_.members[rule].pattern, identity.value)) return rule;
  }
  return first;
}

std::optional<TeamId> Directory::team_of(const std::vector<Identity>& identities) const {
  std::optional<Rule> first;
  for (const Identity& identity : identities) {
    const auto rule = first_match(identity);
    if (rule && (!first || *rule < *first)) first = rule;
  }
  if (!first) return std::nullopt;
  return organisation_.members[*first].team;
}

void Directory::find_class(const std::vector<ClassWord>& words, Belonging& found) const {
  const Team* team = found.team ? &organisation_.teams[*found.team] : nullptr;
  std::vector<std::string> names;
  for (const Class& klass : organisation_.classes) names.push_back(klass.name);
  bool refused = false;
  for (const ClassWord& word : words) {
    if (found.klass) break;
    const auto klass = organisation_.klass(word.word);
    if (klass && (team == nullptr || std::ranges::binary_search(team->classes, *klass))) {
      found.klass = klass;
    } else if (klass && !refused) {
      found.slips.push_back({SlipKind::class_not_allowed, word.word, ""});
      refused = true;
    } else if (!klass && !word.known) {
      const std::string nearest = nearest_word(word.word, names);
      if (!nearest.empty()) found.slips.push_back({SlipKind::class_unknown, word.word, nearest});
    }
  }
  if (!found.klass && team != nullptr) found.klass = team->default_class;
  for (Slip& slip : found.slips)
    if (slip.kind == SlipKind::class_not_allowed && found.klass)
      slip.nearest = organisation_.classes[*found.klass].name;
}

Belonging Directory::find(const Who& who) const {
  Belonging found;
  found.team = team_of(who.identities);
  if (!found.team) {
    for (const Identity& identity : who.identities) {
      if (identity.source != MemberSource::slurm_account) continue;
      const std::string nearest = nearest_word(identity.value, accounts_);
      if (!nearest.empty()) found.slips.push_back({SlipKind::account, identity.value, nearest});
    }
  }
  find_class(who.class_words, found);
  return found;
}

}  // namespace fairlead::policy

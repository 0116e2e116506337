// Who work belongs to: the team and the class, from what the platform says of it.
//
// A line of `members` comes before those below it; inside a line the most specific pattern comes
// first: one without `*`, then the one with more letters. The first rule that matches anything the
// platform says decides. What matches nothing is nobody's, is counted as such, and never dropped.
//
// The class is the first word among `class_words` (on Slurm the QOS, then the partitions) that is a
// class of the organisation and that the team may have; else the team's default class.
//
// A name that fits nothing and is a few letters off one that would fit is a slip: it is told with
// that name, so that nobody waits for a quota who has mistyped.
//
// Cost: building O(rules log rules); a question O(what is said of the work * (log rules + patterns
// with a `*`)).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/organisation.h"
#include "policy/slip.h"

namespace fairlead::policy {

// What the platform says of work, or of who runs it.
struct Identity {
  MemberSource source{};
  std::string claim;  // its name, of a claim
  std::string value;
};

struct ClassWord {
  std::string word;
  bool known = true;  // the platform has a QOS or partition of this name
};

struct Who {
  std::vector<Identity> identities;
  std::vector<ClassWord> class_words;
};

struct Belonging {
  std::optional<TeamId> team;    // nothing: nobody's
  std::optional<ClassId> klass;  // nothing: of no class, after all others
  std::vector<Slip> slips;
};

// Users of each group that some rule names.
using Groups = std::map<std::string, std::vector<std::string>, std::less<>>;

class Directory {
 public:
  explicit Directory(Organisation organisation, const Groups& groups = {});

  const Organisation& organisation() const { return organisation_; }
  Belonging find(const Who& who) const;

  // The groups of the user that some rule names.
  const std::vector<std::string>& groups_of(std::string_view user) const;

 private:
  using Rule = uint32_t;  // index into the organisation's members
  struct Names {          // of one source or claim
    std::map<std::string, Rule, std::less<>> exact;
    std::vector<Rule> patterns;  // with a `*`, ascending
  };
  std::optional<Rule> first_match(const Identity& identity) const;
  std::optional<TeamId> team_of(const std::vector<Identity>& identities) const;
  void find_class(const std::vector<ClassWord>& words, Belonging& found) const;

  Organisation organisation_;
  std::map<std::pair<MemberSource, std::string>, Names> names_;
  std::vector<std::string> accounts_;  // without a `*`, for near names
  std::map<std::string, std::vector<std::string>, std::less<>> groups_;  // by user
};

}  // namespace fairlead::policy

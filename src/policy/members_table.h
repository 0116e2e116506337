// A table of members, as a directory exports it: CSV, or JSON as a list of objects.
//
//   user,team                [{"user": "ana", "team": "product/search"},
//   ana,product/search        {"user": "bob", "team": "research"}]
//   bob,research
//
// One column says who: account, user, qos, partition, namespace, label, service-account, group, or
// the name of a claim, `claim department`. `team` may say in which team: a path at or below the
// team that names the table, which is meant where the column or its cell is empty. Other columns
// are not read. Commas, semicolons or tabs part the cells of CSV, whichever its first line has
// most of.
//
// A row that cannot be is told (W816) and left out, the first kOddRowsTold of them one by one: the
// directory has many, and none of them is to keep the rest from their teams. A table that cannot be
// understood at all is an error (E814).
#pragma once

#include "policy/tree.h"

namespace fairlead::policy {

constexpr int kOddRowsTold = 10;

struct MembersRow {
  Word who;   // may hold `*`, as in `members`
  Word team;  // empty: the one that names the table
};

struct MembersTable {
  MemberSource source{};
  std::string claim;  // its name
  std::vector<MembersRow> rows;
};

// Nothing where the table cannot be understood; what is odd is told.
std::optional<MembersTable> read_members_table(const lang::Sources& sources, lang::FileId file,
                                               lang::Diagnostics& problems);

// Tells of rows one by one, and at the end of how many more there were.
class OddRows {
 public:
  explicit OddRows(lang::Diagnostics& problems) : problems_(problems) {}
  ~OddRows();
  OddRows(const OddRows&) = delete;
  OddRows& operator=(const OddRows&) = delete;
  void tell(std::string message, lang::Label place, std::string hint,
            std::vector<lang::Label> others = {});

 private:
  lang::Diagnostics& problems_;
  int64_t count_ = 0;
  Span untold_;  // the first of them
};

}  // namespace fairlead::policy

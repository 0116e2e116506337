// A table of members, from its bytes to its rows and to what is said of the odd ones.
#include <cstdint>

#include "policy/members_table.h"

namespace {

using namespace fairlead;

// A place lies in the text, and a name that was taken is one.
void look_at(const lang::Word& word, const lang::Sources& sources) {
  if (word.span.end > sources.file(0).text().size() || word.span.begin > word.span.end)
    __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  lang::Sources sources;
  sources.add("teams.csv", std::string(reinterpret_cast<const char*>(data), size));
  lang::Diagnostics problems;
  const auto table = policy::read_members_table(sources, 0, problems);
  for (const auto& problem : problems) (void)to_text(problem, sources);
  if (!table && problems.empty()) __builtin_trap();  // what is refused is told
  if (!table) return 0;
  for (const auto& row : table->rows) {
    if (row.who.value.empty()) __builtin_trap();
    look_at(row.who, sources);
    look_at(row.team, sources);
  }
  return 0;
}

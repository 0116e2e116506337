// What `sacctmgr -P show assoc` and `sacctmgr -P show qos` printed into files, with their titles or
// (-n) without.
//
// Titles name the columns, whichever were asked for; without them the columns are those that
// sacctmgr prints by itself, told apart by their number. `show assoc tree` indents accounts by
// their depth; else ParentName says where they hang, else nothing does.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/rules.h"

namespace fairlead::slurm {

struct SacctmgrDump {
  std::string cluster;
  std::vector<Association> associations;
  std::vector<Qos> qos;
};

// Adds what one file says, `name` for messages. Fails with dump-bad: not such a text, or a line
// that has other columns than the others.
Result<void> add_sacctmgr_dump(SacctmgrDump& dump, std::string_view text, const std::string& name);

}  // namespace fairlead::slurm

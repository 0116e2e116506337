// Slurm's rules as the commands print them: partitions, reservations, licences, topology,
// configuration, statistics. For QOS and associations see text_assoc.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/event.h"
#include "model/rules.h"

namespace fairlead::slurm {

// `unreadable` counts the records left out.
template <class T>
struct Parsed {
  std::vector<T> records;
  int64_t unreadable = 0;
};

Parsed<Partition> parse_partitions(std::string_view text);      // scontrol show partition
Parsed<Reservation> parse_reservations(std::string_view text);  // scontrol show reservation
Parsed<Licence> parse_licences(std::string_view text);          // scontrol show lic
Topology parse_topology(std::string_view text);  // scontrol show topology: tree or blocks

// scontrol show config. Nothing where the text is none.
struct ConfigText {
  Scheduler scheduler;
  std::string start_mark;
};
std::optional<ConfigText> parse_config(std::string_view text);

Amounts parse_statistics(std::string_view text);  // sdiag

}  // namespace fairlead::slurm

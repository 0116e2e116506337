// What Slurm states, read part by part.
//
// A Reader brings one part of the facts up to date and says whether it differs from its last read.
// Three readers give the same facts: libslurm (the bridge), slurmrestd and the commands. All of
// them only read: none has a call that could write to Slurm.
#pragma once

#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/event.h"

namespace fairlead::slurm {

// In the order in which they are read: jobs first, because they change most.
enum class Part : uint8_t {
  config,  // the scheduler itself, and whether it was started anew
  jobs,
  steps,  // how many steps of each job run; costs more with each running job, so read rarely
  nodes,
  partitions,
  rules,  // QOS and associations
  reservations,
  licences,
  topology,
  statistics,
};
inline constexpr size_t kPartCount = 10;
inline constexpr std::array<Part, kPartCount> kParts = {
    Part::config, Part::jobs,         Part::steps,    Part::nodes,    Part::partitions,
    Part::rules,  Part::reservations, Part::licences, Part::topology, Part::statistics};

const char* name_of(Part part);

// A value for each part.
template <class T>
struct PerPart {
  std::array<T, kPartCount> values{};
  T& operator[](Part p) { return values[static_cast<size_t>(p)]; }
  const T& operator[](Part p) const { return values[static_cast<size_t>(p)]; }
};

struct SlurmFacts {
  Scheduler scheduler;
  std::string start_mark;  // another value: the controller was started anew, read everything
  std::vector<Job> jobs;
  boost::unordered_flat_map<uint32_t, int32_t> steps;  // by job id
  std::vector<Node> nodes;
  std::vector<Partition> partitions;
  std::vector<Qos> qos;
  std::vector<Association> associations;
  std::vector<Reservation> reservations;
  std::vector<Licence> licences;
  std::optional<Topology> topology;  // nothing where a reader cannot tell it
  std::string note;                  // what a reader cannot know, for a person
  PerPart<int64_t> unreadable;       // records left out of each part at its last read
};

class Reader {
 public:
  virtual ~Reader() = default;

  // Brings `part` of `facts` up to date. Returns whether it may differ from the last read of this
  // reader. After an error `part` is as it was. Fails with slurm-unreachable, slurm-refused,
  // slurm-setup, slurm-bad-answer.
  virtual Result<bool> read(Part part, SlurmFacts& facts) = 0;

  // Forgets what it knows of the last reads: the next read of each part gives it whole.
  virtual void forget() = 0;
};

}  // namespace fairlead::slurm

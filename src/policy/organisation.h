// An organisation after its check: names are resolved, values inherited, amounts filled in.
//
// Teams stand in one vector, a parent before its children and the children of one parent by name,
// so a team and all below it are the interval [id, end). Team 0 is the root: the one team at the
// top of the files, else a team made for the several that stand there. Devices and classes are
// sorted by name. So two files that say the same give the same value, and the same digest;
// `members` alone keep the order of the files, because the first match wins.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/describe.h"
#include "policy/amount.h"
#include "policy/tree.h"

namespace fairlead::policy {

using DeviceId = uint32_t;  // a class of devices
using ClassId = uint32_t;
using TeamId = uint32_t;
constexpr TeamId kRoot = 0;

BOOST_DESCRIBE_STRUCT(Milli, (), (value))

struct DeviceClass {
  std::string name;
  std::vector<std::string> models;  // of the catalogue, sorted
  std::optional<int64_t> price;     // micro-dollars of one for an hour
  bool operator==(const DeviceClass&) const = default;
};
BOOST_DESCRIBE_STRUCT(DeviceClass, (), (name, models, price))

struct Amount {
  DeviceId device = 0;
  Milli milli;
  bool operator==(const Amount&) const = default;
};
BOOST_DESCRIBE_STRUCT(Amount, (), (device, milli))

struct Class {
  std::string name;
  int64_t rank = 0;  // higher goes first
  std::vector<ClassId> preempts;
  bool anywhere = false;
  std::optional<Amount> anywhere_up_to;
  bool never_preempted = false;
  Duration min_run, restart_cost;
  std::optional<int64_t> most_devices;  // of one workload
  std::optional<Duration> most_time;
  bool operator==(const Class&) const = default;
};
BOOST_DESCRIBE_STRUCT(Class, (),
                      (name, rank, preempts, anywhere, anywhere_up_to, never_preempted, min_run,
                       restart_cost, most_devices, most_time))

struct Limits {  // of one class of devices
  Milli own;     // its sub-teams' included
  Milli lend = Milli::unlimited();
  Milli borrow = Milli::unlimited();
  bool operator==(const Limits&) const = default;
};
BOOST_DESCRIBE_STRUCT(Limits, (), (own, lend, borrow))

struct Window {
  uint8_t days = 0;                      // bit 0 is Monday; the day on which it begins
  int begin_minute = 0, end_minute = 0;  // of the day; an end not after the begin is tomorrow's
  std::string zone;
  std::vector<Limits> limits;  // by DeviceId, while it is open
  int64_t weight = 1;
  bool operator==(const Window&) const = default;
};
BOOST_DESCRIBE_STRUCT(Window, (), (days, begin_minute, end_minute, zone, limits, weight))

struct Budget {
  std::optional<int64_t> micro_dollars;  // one of these two
  std::optional<Amount> device_hours;
  Duration per;
  bool hard = false;
  bool operator==(const Budget&) const = default;
};
BOOST_DESCRIBE_STRUCT(Budget, (), (micro_dollars, device_hours, per, hard))

struct Team {
  std::string name;
  std::string path;   // below the root: product/search; of the root its name
  TeamId parent = 0;  // the root's is itself
  TeamId end = 0;
  std::vector<Limits> limits;  // by DeviceId
  int64_t weight = 1;
  Duration half_life;            // by which the usage of its children is compared; inherited
  std::vector<ClassId> classes;  // that its work may have, sorted; inherited
  std::optional<ClassId> default_class;  // inherited
  std::optional<Budget> budget;
  std::vector<Window> windows;
  bool operator==(const Team&) const = default;
};
BOOST_DESCRIBE_STRUCT(Team, (),
                      (name, path, parent, end, limits, weight, half_life, classes, default_class,
                       budget, windows))

BOOST_DESCRIBE_ENUM(MemberSource, slurm_account, slurm_user, slurm_qos, slurm_partition,
                    kubernetes_namespace, kubernetes_label, kubernetes_service_account, group,
                    claim, file)

struct MemberRule {
  MemberSource source{};
  std::string claim;  // its name
  std::string pattern;
  TeamId team = 0;
  std::string table;  // the file that lists it; empty: `members` itself
  bool operator==(const MemberRule&) const = default;
};
BOOST_DESCRIBE_STRUCT(MemberRule, (), (source, claim, pattern, team, table))

struct Cap {
  int64_t most = 0;
  Duration per;
  bool operator==(const Cap&) const = default;
};
BOOST_DESCRIBE_STRUCT(Cap, (), (most, per))

struct Exempt {
  ClassId klass = 0;
  Duration time;
  bool operator==(const Exempt&) const = default;
};
BOOST_DESCRIBE_STRUCT(Exempt, (), (klass, time))

struct ReclaimIdle {
  std::vector<std::string> kinds;  // sorted; none: all
  std::vector<Exempt> unless;
  std::vector<std::optional<Duration>> after;  // by Rung
  std::optional<Cap> most;                     // devices
  bool operator==(const ReclaimIdle&) const = default;
};
BOOST_DESCRIBE_STRUCT(ReclaimIdle, (), (kinds, unless, after, most))

struct ReclaimForWaiting {
  std::optional<Duration> wait, ask;
  std::optional<Cap> most;  // evictions
  bool operator==(const ReclaimForWaiting&) const = default;
};
BOOST_DESCRIBE_STRUCT(ReclaimForWaiting, (), (wait, ask, most))

struct Organisation {
  std::string name, version;
  std::vector<DeviceClass> devices;
  std::vector<Class> classes;
  std::vector<Team> teams;
  std::vector<MemberRule> members;  // the first match wins; tables are taken apart
  std::optional<ReclaimIdle> idle;
  std::optional<ReclaimForWaiting> for_waiting;
  bool operator==(const Organisation&) const = default;

  std::optional<DeviceId> device(std::string_view name) const;
  std::optional<ClassId> klass(std::string_view name) const;
  // By a path below the root, or from the root's own name on.
  std::optional<TeamId> team(std::string_view path) const;
  bool is_below(TeamId team, TeamId ancestor) const {  // or the same
    return ancestor <= team && team < teams[ancestor].end;
  }
  TeamId lowest_common(TeamId a, TeamId b) const;
};
BOOST_DESCRIBE_STRUCT(Organisation, (),
                      (name, version, devices, classes, teams, members, idle, for_waiting))

Digest digest_of(const Organisation& organisation);

// `*` in a pattern stands for any letters.
bool matches(std::string_view pattern, std::string_view name);

}  // namespace fairlead::policy

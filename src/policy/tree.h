// An organisation as it was written: every value with its place, nothing resolved.
//
// docs/howto/organisation.md shows the language on one page.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "lang/cursor.h"
#include "policy/amount.h"

namespace fairlead::policy {

using lang::Number;
using lang::Span;
using lang::Time;
using lang::Word;

struct AmountNode {
  Milli amount;
  Word device;
  Span span;  // `256 H100`
};

struct LimitsNode {  // own, lend, borrow, weight: what a calendar may change too
  std::vector<AmountNode> own, lend, borrow;
  std::optional<Number> weight;
};

struct HeaderNode {  // org acme v7
  Word name, version;
  Span span;
};

struct DevicesNode {
  Word name;
  std::vector<Word> models;
  Span head;  // `devices H100`
};

struct PriceNode {  // price H100 $2.50/h
  Word device;
  Number micro_dollars;  // of one for an hour
};

struct ClassNode {
  Word name;
  Span head;
  std::optional<Number> rank, most;  // devices of one workload
  std::optional<Time> min_run, restart_cost, most_time;
  std::vector<Word> preempts;
  std::optional<Span> anywhere;
  std::optional<AmountNode> anywhere_up_to;
  bool never_preempted = false;
};

struct BudgetNode {
  std::optional<Number> micro_dollars;  // one of these two
  std::optional<AmountNode> device_hours;
  Time per;
  bool hard = false;
  Span span;
};

struct WindowNode {  // during mon..fri 08:00..20:00 Europe/Berlin { ... }
  uint8_t days = 0;  // bit 0 is Monday
  int begin_minute = 0,
      end_minute = 0;  // of the day; an end that is not after the begin is tomorrow's
  Word zone;
  LimitsNode limits;
  Span span;
};

enum class MemberSource : uint8_t {
  slurm_account,
  slurm_user,
  slurm_qos,
  slurm_partition,
  kubernetes_namespace,
  kubernetes_label,
  kubernetes_service_account,
  group,
  claim,
  file
};

struct MembersNode {
  MemberSource source{};
  std::string claim;  // its name, of `claim NAME`
  std::vector<Word> patterns;
};

struct TeamNode {
  Word name;
  Span head;  // `team research`
  LimitsNode limits;
  std::optional<Time> half_life;
  std::vector<Word> classes;
  std::optional<Word> default_class;
  std::optional<BudgetNode> budget;
  std::vector<WindowNode> windows;
  std::vector<MembersNode> members;
  std::vector<TeamNode> teams;
};

enum class Rung : uint8_t { notify, demote, shrink, requeue, cancel };
constexpr size_t kRungs = 5;
constexpr std::array<std::string_view, kRungs> kRungNames = {"notify", "demote", "shrink",
                                                             "requeue", "cancel"};

struct ExemptNode {  // unless class interactive for 2h
  Word klass;
  Time time;
};

struct RungNode {
  Time after;
  Span span;  // `notify after 10m`
};

struct CapNode {  // most 16 gpu per 10m
  Number most;
  Time per;
};

struct IdleNode {
  Span head;
  std::vector<Word> kinds;
  std::vector<ExemptNode> unless;
  std::array<std::optional<RungNode>, kRungs> rungs;
  std::optional<CapNode> most;
};

struct ForWaitingNode {
  Span head;
  std::optional<Time> wait, ask;
  std::optional<CapNode> most;
};

struct FleetPartNode {  // 32 nodes of 8 H100
  Number nodes;
  AmountNode each;
};

struct WorkNode {  // running r1 of research class research 20 x 8 H100 checkpointed 5m ago since 2h
  bool running = false;
  Word name, team;
  std::optional<Word> klass, device;
  int64_t nodes = 0, each = 0;
  Span dims;
  std::optional<Time> checkpointed_ago, since;
};

enum class Expected : uint8_t { admit, preempt, defer, reshape, blocker };

struct ExpectNode {
  Expected what{};
  bool no = false;
  Word name;               // of a workload; of a blocker for `blocker`
  std::optional<Word> on;  // the workload of a blocker
  std::optional<Time> at;
  Span span;
};

struct TestNode {
  Word title;
  Span head;
  std::vector<FleetPartNode> fleet;
  std::vector<WorkNode> work;
  std::vector<ExpectNode> expects;
};

struct Tree {
  std::vector<HeaderNode> headers;  // at most one for each file
  std::vector<DevicesNode> devices;
  std::vector<PriceNode> prices;
  std::vector<ClassNode> classes;
  std::vector<TeamNode> teams;
  std::vector<IdleNode> idle;
  std::vector<ForWaitingNode> for_waiting;
  std::vector<TestNode> tests;
};

}  // namespace fairlead::policy

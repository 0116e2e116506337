// The parts of the check, in their order. Only check*.cc include this.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "lang/cursor.h"
#include "policy/check.h"

namespace fairlead::policy {

struct CheckContext {
  const lang::Sources& sources;
  const Tree& tree;
  const CheckOptions& options;
  lang::Diagnostics& problems;
  Organisation org;
  std::vector<const TeamNode*> team_nodes;    // by TeamId; null for a root that was made
  std::vector<const ClassNode*> class_nodes;  // by ClassId

  lang::Diagnostic& error(std::string code, std::string message, lang::Label primary,
                          std::string hint = {}, std::vector<lang::Label> others = {});
  lang::Diagnostic& warning(std::string code, std::string message, lang::Label primary,
                            std::string hint = {}, std::vector<lang::Label> others = {});

  // Tell of an unknown name (E802, E808, E809) and return nothing.
  std::optional<DeviceId> device(const Word& name);
  std::optional<ClassId> klass(const Word& name);
  std::optional<TeamId> team(const Word& path);
};

void check_devices(CheckContext& c);
void check_prices(CheckContext& c);   // fills org.devices
void check_classes(CheckContext& c);  // fills org.classes, class_nodes
void check_teams(CheckContext& c);    // fills org.teams, team_nodes
void check_limits(CheckContext& c);
void check_windows(CheckContext& c);
void check_fleet(CheckContext& c);
void check_budgets(CheckContext& c);
void check_class_use(CheckContext& c);
void check_members(CheckContext& c);  // fills org.members
void check_reclaim(CheckContext& c);  // fills org.idle, org.for_waiting
void check_tests(CheckContext& c);

// `256 H100`
std::string amount_text(Milli amount, std::string_view device);

// The amount of `device` that `written` states; null where it does not.
const AmountNode* amount_of(const std::vector<AmountNode>& written, std::string_view device);

}  // namespace fairlead::policy

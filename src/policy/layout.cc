#include "policy/layout.h"

namespace fairlead::policy {

const lang::FormatRules& format_rules() {
  static const lang::FormatRules kRules = {
      .sections = {"org", "lang", "devices", "price", "class", "team", "reclaim", "test"},
      .parts = {
          {"class",
           {"rank", "preempts", "anywhere", "never-preempted", "min-run", "restart-cost", "most",
            "most-time"}},
          {"team",
           {"own", "lend", "borrow", "weight", "half-life", "classes", "default", "budget",
            "during", "members", "team"}},
          {"during", {"own", "lend", "borrow", "weight"}},
          {"reclaim",
           {"kinds", "unless", "notify", "demote", "shrink", "requeue", "cancel", "wait", "ask",
            "most"}},
          {"test", {"class", "checkpointed", "since"}},
      }};
  return kRules;
}

}  // namespace fairlead::policy

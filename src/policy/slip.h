// A name that fits nothing, as far as it is near one that would.
#pragma once

#include <string>

#include "base/describe.h"

namespace fairlead::policy {

enum class SlipKind : uint8_t {
  account,           // that no team claims
  partition,         // that the platform does not have
  class_unknown,     // that neither the organisation nor the platform has
  class_not_allowed  // a class that the team may not have
};
BOOST_DESCRIBE_ENUM(SlipKind, account, partition, class_unknown, class_not_allowed)

struct Slip {
  SlipKind kind{};
  std::string name;
  std::string nearest;  // what was meant; of a class that is not allowed, the one it gets instead
  bool operator==(const Slip&) const = default;
};
BOOST_DESCRIBE_STRUCT(Slip, (), (kind, name, nearest))

}  // namespace fairlead::policy

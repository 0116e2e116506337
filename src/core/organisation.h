// The organisation: from the texts that were stated to what they mean.
//
// What it means follows from the texts alone: neither snapshot nor digest holds it, and it is made
// anew after a snapshot. It never changes once it is made, so copies of a state share it.
#pragma once

#include <memory>

#include "base/result.h"
#include "model/organisation.h"
#include "policy/calendar.h"
#include "policy/identity.h"

namespace fairlead {

struct KnownOrganisation {
  policy::Directory directory;
  policy::Zones zones;

  const policy::Organisation& rules() const { return directory.organisation(); }
};

// Null where no file is stated: nothing is said of who owns what.
// Fails with organisation-bad: an error in a file, or a zone that is none.
Result<std::shared_ptr<const KnownOrganisation>> understand(const OrganisationStated& stated);

// The bytes of a zone's file as `OrganisationStated::zones` has them.
std::string to_hex(std::string_view bytes);

}  // namespace fairlead

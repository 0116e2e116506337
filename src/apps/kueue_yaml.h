// Kueue's objects out of YAML: documents of manifests, or what `kubectl get … -o yaml` prints.
#pragma once

#include <string>

#include "base/result.h"
#include "imports/kueue.h"

namespace fairlead {

// Adds what one file says; objects of other kinds are passed over. `name` is for messages.
// Fails with kueue-bad: not YAML, or an object without a name.
Result<void> add_kueue_yaml(imports::KueueSays& says, const std::string& text,
                            const std::string& name);

}  // namespace fairlead

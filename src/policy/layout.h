// How an organisation file is laid out.
#pragma once

#include "lang/format.h"

namespace fairlead::policy {

const lang::FormatRules& format_rules();

}  // namespace fairlead::policy

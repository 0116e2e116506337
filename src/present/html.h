// The report as one page, to send or to print.
#pragma once

#include <string>

#include "views/report.h"

namespace fairlead {

std::string report_html(const Report& report);

}  // namespace fairlead

// When what waits will start, and how such promises were kept, as text.
#pragma once

#include "explain/blocker.h"
#include "present/layout.h"
#include "views/comparison.h"

namespace fairlead {

// "starts about 17:40, nine times of ten by 19:55; …": of one that waits.
std::string start_paragraph(const Explanation& x, const TextOptions& options, Instant now);

// Of a cell: "17:40", "now"; "-" where it is not known.
std::string start_cell(Instant start, Instant now);

// How promises of starts were kept.
std::string estimates_text(const EstimatesTold& told, const TextOptions& options);

}  // namespace fairlead

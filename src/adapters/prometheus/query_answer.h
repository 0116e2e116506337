// Prometheus's answers to queries, read in one pass without a tree: a fleet's answer is large.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "evidence/normalise.h"

namespace fairlead::prometheus {

struct MatrixCounts {
  int64_t series = 0;
  int64_t points = 0;      // of metrics that we know
  int64_t unreadable = 0;  // points that are no [time, "value"]
};

// All three take the body of an answer, and fail with prometheus-bad-answer (no JSON, other JSON, a
// page of HTML) or prometheus-refused (its own error, in its own words).

// The answer to a range selector; every point goes to `normaliser`. Where the answer breaks off,
// what came before has been taken in. `body` grows by the parser's padding.
Result<MatrixCounts> read_matrix(std::string& body, evidence::Normaliser& normaliser);

// The answer to "time()".
Result<Instant> read_time(std::string& body);

// The answer of /label/__name__/values.
Result<std::vector<std::string>> read_names(std::string& body);

}  // namespace fairlead::prometheus

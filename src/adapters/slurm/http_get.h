// One HTTP/1.1 GET over a unix socket or TCP, no longer than told. No TLS: slurmrestd has none.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace fairlead::slurm {

struct HttpRequest {
  std::string url;   // "unix:/run/slurmrestd.sock" or "http://127.0.0.1:6820"
  std::string path;  // "/slurm/v0.0.42/jobs/"
  std::vector<std::pair<std::string, std::string>> headers;
  Duration timeout = seconds(8);
  size_t body_max = size_t{1} << 30;
};

struct HttpAnswer {
  int status = 0;
  std::string body;
};

// Fails with http-url, http-unreachable, http-timeout, http-bad-answer.
Result<HttpAnswer> http_get(const HttpRequest& request);

// The answer in `bytes`, all that came before the peer closed or `whole`. Nothing while more must
// come. Fails with http-bad-answer.
Result<std::optional<HttpAnswer>> parse_http(std::string_view bytes, bool closed);

}  // namespace fairlead::slurm

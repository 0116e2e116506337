// Reads Slurm through slurmrestd: needs no Slurm on this machine, and costs the most.
//
// At 10,000 jobs one answer is 30 MB (22.05) to 80 MB (later) and takes seconds, so it is for small
// sites, or those that give nothing else. It tells less, too: no topology tree, no steps, nothing
// of AccountingStorageEnforce or the priority weights, and fairshare from 24.11 on only. Where the
// commands of the same cluster are at hand they are asked for these (RestOptions::beside); else
// they stay unknown, and the poll says so.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "adapters/slurm/facts.h"
#include "adapters/slurm/http_get.h"
#include "adapters/slurm/rest_json.h"

namespace fairlead::slurm {

using HttpGet = std::function<Result<HttpAnswer>(const HttpRequest&)>;

struct RestOptions {
  std::string url = "unix:/run/slurmrestd/slurmrestd.socket";
  std::string token_file;  // holds a JWT; read at each request, so that it may be renewed
  std::string user;        // X-SLURM-USER-NAME, with a token
  HttpGet get = http_get;
  std::shared_ptr<Reader> beside;  // asked for what slurmrestd does not tell; may be nothing
};

class RestReader : public Reader {
 public:
  explicit RestReader(RestOptions options) : options_(std::move(options)) {}

  Result<bool> read(Part part, SlurmFacts& facts) override;
  void forget() override;

 private:
  // The document at `path` of the release's own version; nothing where nothing changed.
  Result<std::optional<Json>> get(const std::string& api, const std::string& path);
  Result<HttpAnswer> ask(const std::string& path);
  Result<void> find_version();

  Result<bool> read_config(SlurmFacts& facts);
  Result<bool> read_jobs(SlurmFacts& facts);
  Result<bool> read_rules(SlurmFacts& facts);
  Result<bool> read_beside(Part part, SlurmFacts& facts);
  void read_enforcement(SlurmFacts& facts);

  RestOptions options_;
  bool beside_is_same_ = false;   // the commands speak to the cluster that slurmrestd does
  std::string version_;           // "v0.0.42"; empty: not known yet
  int64_t jobs_updated_ = 0;      // the controller's time, in seconds; 0: never
  simdjson::dom::parser parser_;  // holds the last document
};

}  // namespace fairlead::slurm

// The organisation's files, read with all that they name, as the engine is told of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/policy_input.h"
#include "io/clock.h"
#include "runtime/site.h"

namespace fairlead {

struct OrganisationRead {
  LoadedPolicy loaded;
  std::optional<OrganisationStated> stated;  // nothing where a file has errors
};

// `path` is a file or a folder. Reads tables of members, time zones and groups (NSS) too.
// Fails with file-missing, file-unreadable, policy-none.
Result<OrganisationRead> read_organisation(const std::string& path);

// "acme v7: 5 teams, 4 classes"
std::string summary_of(const policy::Organisation& organisation);

// Keeps what sites are told the same as the files: looks every few seconds whether one of them is
// another one. Files with errors change nothing, and are told on stderr.
class OrganisationFeed {
 public:
  OrganisationFeed(std::string path, io::Clock& clock) : path_(std::move(path)), clock_(clock) {}

  void add(Site& site, Stage stage) { sites_.push_back({&site, stage}); }

  // Fails where the files have errors and some site has no organisation to go on with.
  Result<void> begin();
  void reload();
  void reload_if_changed();

 private:
  Result<void> load();
  std::string signature() const;

  std::string path_;
  io::Clock& clock_;
  struct Told {
    Site* site;
    Stage stage;
  };
  std::vector<Told> sites_;
  std::vector<std::string> tables_;  // that the files named when they were read
  std::string signature_;
};

}  // namespace fairlead

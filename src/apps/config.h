// fairlead.yaml: the plumbing.
//
// config_keys.h has every key. A key that is not there is refused with its line, its column and the
// nearest name.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "evidence/activity.h"
#include "model/organisation.h"

namespace fairlead {

struct SlurmConfig {
  std::string via = "auto";  // auto, bridge, rest, commands
  std::string conf;          // SLURM_CONF; empty: the local default
  std::string bridge;        // path of fairlead-slurm; empty: beside this program, else in PATH
  std::string rest;          // "unix:/path" or "http://host:port"
  std::string rest_token_file, rest_user;
  Duration interval = seconds(1);
};

struct TelemetryConfig {
  std::string prometheus;              // URL
  std::vector<std::string> exporters;  // URLs, {node} stands for each node
  std::string bearer_file;
  Duration interval = seconds(15);
  bool any() const { return !prometheus.empty() || !exporters.empty(); }
};

struct SiteConfig {
  std::string name = "local";
  std::string stage;  // empty: as far as can be
  SlurmConfig slurm;
  TelemetryConfig telemetry;
  EvidenceRules evidence;
  Duration grace = seconds(60);  // a source may be silent for so long
};

struct Config {
  std::vector<SiteConfig> sites;
  std::string store = "sqlite:/var/lib/fairlead/fairlead.db";
  std::string listen = "unix:/run/fairlead.sock";
  std::string listen_http;   // a second address, loopback only
  std::string organisation;  // a .policy file, or a folder of them; empty: none
};

// What a site is to do: as its `stage` says; by default it suggests where an organisation is given.
Stage stage_of(const Config& config, const SiteConfig& site);

// Fails with config-bad, config-unknown-key, config-wrong-type, config-duplicate-key,
// config-not-allowed. All that is wrong is told, not the first only.
struct ConfigResult {
  Config config;
  std::vector<Diagnostic> problems;
};
ConfigResult read_config(const std::string& text, const std::string& source);

// "unix:/path" or "host:port", a port from 0 to 65535.
bool is_listen_address(const std::string& text);

// Whether an address to listen on can be reached from other machines.
bool beyond_loopback(const std::string& listen);

std::string config_keys();  // documentation of every key and its variable, as a file that is valid

}  // namespace fairlead

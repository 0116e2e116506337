// Every key of fairlead.yaml: one table reads the file, the FAIRLEAD_* variables and the options of
// the command line, and prints the documentation.
//
// The variable of a key is FAIRLEAD_, its section unless that is the file itself, and its name:
// FAIRLEAD_STORE, FAIRLEAD_SLURM_VIA. An option wins over a variable, and a variable over the file.
// What is said of a site counts for every site of the file.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <variant>

#include "apps/config.h"

namespace fairlead {

using ConfigField = std::variant<std::string*, Duration*, std::vector<std::string>*>;

struct ConfigKey {
  std::string_view section;  // empty: of the file; "site", or a section of a site
  std::string_view name;
  std::string_view option;   // of commands that look at a site; empty: none
  std::string_view example;  // as YAML
  std::string_view meaning;
  ConfigField (*field)(Config&, SiteConfig&);
  // What is wrong with a text; nullptr: any text will do.
  std::optional<Diagnostic> (*check)(const std::string& text) = nullptr;

  bool is_list() const;
  std::string variable() const;
};

std::span<const ConfigKey> config_key_table();

// Sets a key to one text, or a list's key to any number. Returns what is wrong with them.
std::optional<Diagnostic> set_key(const ConfigKey& key, Config& config, SiteConfig& site,
                                  const std::vector<std::string>& texts);

// A grace in which no poll of the site fits.
std::optional<Diagnostic> grace_problem(const SiteConfig& site);

// What an option of the command line said.
struct Setting {
  const ConfigKey* key = nullptr;
  std::vector<std::string> texts;
};

using Environment = std::function<const char*(const char*)>;  // as getenv

// Lays variables and settings over what the file said. All that is wrong is told.
void overlay(ConfigResult& result, const Environment& environment,
             const std::vector<Setting>& settings);

}  // namespace fairlead

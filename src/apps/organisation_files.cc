#include "apps/organisation_files.h"

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/words.h"
#include "io/file.h"
#include "policy/calendar.h"

namespace fairlead {
namespace {

namespace fs = std::filesystem;

// Users of the groups that some rule names: those that the group lists, and those whose own group
// it is. A directory that lets nobody list its users tells the former alone.
std::vector<GroupMembers> groups_named(const policy::Organisation& org) {
  std::map<std::string, std::set<std::string>> users;
  std::map<gid_t, std::string> names;
  const auto take = [&](const ::group& g) {
    names[g.gr_gid] = g.gr_name;
    std::set<std::string>& own = users[g.gr_name];
    for (char** user = g.gr_mem; *user != nullptr; ++user) own.insert(*user);
  };
  std::vector<std::string> patterns;
  for (const policy::MemberRule& rule : org.members) {
    if (rule.source != policy::MemberSource::group) continue;
    if (rule.pattern.contains('*'))
      patterns.push_back(rule.pattern);
    else if (const ::group* g = ::getgrnam(rule.pattern.c_str()); g != nullptr)
      take(*g);
  }
  if (!patterns.empty()) {
    ::setgrent();
    for (const ::group* g = ::getgrent(); g != nullptr; g = ::getgrent()) {
      const std::string name = g->gr_name;
      if (std::ranges::any_of(patterns, [&](const auto& p) { return policy::matches(p, name); }))
        take(*g);
    }
    ::endgrent();
  }
  if (!names.empty()) {
    ::setpwent();
    for (const ::passwd* user = ::getpwent(); user != nullptr; user = ::getpwent())
      if (const auto own = names.find(user->pw_gid); own != names.end())
        users[own->second].insert(user->pw_name);
    ::endpwent();
  }
  std::vector<GroupMembers> groups;
  for (const auto& [group, members] : users)
    groups.push_back({group, {members.begin(), members.end()}});
  return groups;
}

Result<OrganisationStated> stated_of(const LoadedPolicy& loaded) {
  OrganisationStated stated;
  std::set<lang::FileId> tables;
  for (const auto& [name, file] : loaded.tables) tables.insert(file);
  for (lang::FileId file = 0; file < loaded.sources.size(); ++file) {
    const lang::SourceFile& source = loaded.sources.file(file);
    (tables.contains(file) ? stated.tables : stated.files)
        .push_back({source.name(), std::string(source.text())});
  }
  for (const std::string& name : policy::zones_of(loaded.checked.organisation)) {
    constexpr size_t kZoneFileMax = 1 << 20;
    const auto bytes = io::read_file((zone_folder() / name).string(), kZoneFileMax);
    if (!bytes) return std::unexpected(bytes.error());
    stated.zones.push_back({name, to_hex(*bytes)});
  }
  stated.groups = groups_named(loaded.checked.organisation);
  return stated;
}

std::string errors_of(const LoadedPolicy& loaded) {
  const auto is_error = [](const lang::Diagnostic& d) {
    return d.severity == lang::Severity::error;
  };
  const auto& problems = loaded.checked.problems;
  const lang::Diagnostic& first = *std::ranges::find_if(problems, is_error);
  const lang::Position at = loaded.sources.begin_of(first.primary.span);
  return fmt::format("{}:{}:{}: {} [{}]{}", loaded.sources.file(first.primary.span.file).name(),
                     at.line, at.column, first.message, first.code,
                     std::ranges::count_if(problems, is_error) > 1 ? ", and more" : "");
}

}  // namespace

std::string summary_of(const policy::Organisation& org) {
  return fmt::format(
      "{} {}: {}, {}", org.name, org.version, plural(std::ssize(org.teams), "team"),
      org.classes.size() == 1 ? "1 class" : fmt::format("{} classes", org.classes.size()));
}

Result<OrganisationRead> read_organisation(const std::string& path) {
  auto loaded =
      load_policy({.paths = {path}, .fleet = {}, .holds = {}, .team = {}, .at = {}, .jobs = {}});
  if (!loaded) return std::unexpected(loaded.error());
  OrganisationRead read{.loaded = std::move(*loaded), .stated = {}};
  if (!read.loaded.checked.good()) return read;
  auto stated = stated_of(read.loaded);
  if (!stated) return std::unexpected(stated.error());
  read.stated = std::move(*stated);
  return read;
}

// Name, size, time and number of each file that was or would be read.
std::string OrganisationFeed::signature() const {
  std::vector<std::string> files{path_};
  std::error_code error;
  if (fs::is_directory(path_, error)) {
    for (const auto& entry : fs::directory_iterator(path_, error))
      if (entry.path().extension() == ".policy") files.push_back(entry.path().string());
  }
  files.insert(files.end(), tables_.begin(), tables_.end());
  std::ranges::sort(files);
  std::string text;
  for (const std::string& file : files) {
    struct ::stat about{};
    if (::stat(file.c_str(), &about) != 0) continue;
    text += fmt::format("{}\n{} {} {}.{}\n", file, about.st_ino, about.st_size,
                        about.st_mtim.tv_sec, about.st_mtim.tv_nsec);
  }
  return text;
}

Result<void> OrganisationFeed::load() {
  signature_ = signature();
  auto read = read_organisation(path_);
  std::string why;
  if (!read) {
    why = to_text(read.error());
  } else {
    tables_.clear();
    for (const auto& [name, file] : read->loaded.tables) tables_.push_back(name);
    signature_ = signature();
    tell_problems(read->loaded);
    if (!read->stated) why = errors_of(read->loaded);
  }
  for (const auto& [site, stage] : sites_) {
    if (!why.empty()) {
      site->refuse_organisation(why);
      continue;
    }
    read->stated->stage = stage;
    site->state_organisation(clock_.now(), *read->stated);
  }
  if (why.empty()) return {};
  return read ? fail("policy-refused", fmt::format("the organisation in {} has errors", path_),
                     "mend what is told above; `fairlead policy check` tells it too")
              : std::unexpected(read.error());
}

Result<void> OrganisationFeed::begin() {
  if (auto loaded = load(); !loaded) {
    for (const Told& told : sites_)
      if (!told.site->state().organisation) return loaded;
    fmt::print(stderr, "fairlead: {}\nfairlead: what was in force before stays so\n",
               to_text(loaded.error()));
  }
  return {};
}

void OrganisationFeed::reload() {
  const auto loaded = load();
  if (!loaded) {
    fmt::print(stderr, "fairlead: {}\nfairlead: what was in force before stays so\n",
               to_text(loaded.error()));
  } else if (!sites_.empty() && sites_.front().site->state().organisation) {
    fmt::print(stderr, "fairlead: organisation {}\n",
               summary_of(sites_.front().site->state().organisation->rules()));
  }
}

void OrganisationFeed::reload_if_changed() {
  if (signature() != signature_) reload();
}

}  // namespace fairlead

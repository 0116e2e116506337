#include "core/organisation.h"

#include <fmt/format.h>

#include <algorithm>

#include "policy/check.h"

namespace fairlead {
namespace {

std::optional<std::string> from_hex(std::string_view digits) {
  const auto value = [](char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
  };
  std::string bytes;
  for (size_t i = 0; i + 1 < digits.size(); i += 2) {
    const int high = value(digits[i]), low = value(digits[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes += static_cast<char>(high * 16 + low);
  }
  return bytes;
}

}  // namespace

std::string to_hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string digits;
  for (const char c : bytes) {
    digits += kDigits[static_cast<unsigned char>(c) >> 4];
    digits += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return digits;
}

Result<std::shared_ptr<const KnownOrganisation>> understand(const OrganisationStated& stated) {
  if (stated.files.empty()) return nullptr;
  lang::Sources sources;
  policy::CheckOptions options;
  options.tables.emplace();
  for (const NamedText& file : stated.files) sources.add(file.name, file.text);
  for (const NamedText& table : stated.tables)
    options.tables->emplace(table.name, sources.add(table.name, table.text));
  policy::Checked checked = policy::check_files(sources, options);
  if (!checked.good()) {
    const auto error =
        std::ranges::find(checked.problems, lang::Severity::error, &lang::Diagnostic::severity);
    return fail("organisation-bad", to_text(*error, sources));
  }
  policy::Zones zones;
  for (const NamedText& text : stated.zones) {
    const auto bytes = from_hex(text.text);
    const auto zone = policy::Zone::read(bytes.value_or(""));
    if (!zone) return fail("organisation-bad", fmt::format("zone {} is broken", text.name));
    zones.emplace(text.name, *zone);
  }
  policy::Groups groups;
  for (const GroupMembers& members : stated.groups) groups[members.group] = members.users;
  return std::make_shared<const KnownOrganisation>(
      policy::Directory(std::move(checked.organisation), groups), std::move(zones));
}

}  // namespace fairlead

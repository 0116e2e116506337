#include "evidence/normalise_device.h"

#include <algorithm>
#include <charconv>

namespace fairlead::evidence {
namespace {

char to_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), to_lower);
  return out;
}

bool same_name(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, to_lower, to_lower);
}

std::string_view find_label(std::span<const Label> labels, std::string_view name) {
  for (const Label& label : labels) {
    if (same_name(label.name, name)) return label.value;
  }
  return {};
}

bool is_address(std::string_view host) {
  return host.contains(':') || host.find_first_not_of("0123456789.") == host.npos;
}

std::string_view without_domain(std::string_view host) {
  return is_address(host) ? host : host.substr(0, host.find('.'));
}

std::optional<int32_t> read_index(std::string_view text) {
  int32_t index = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  if (error != std::errc{} || end != text.data() + text.size() || index < 0 || index > 1023)
    return std::nullopt;
  return index;
}

// Where the host may stand, the surest first. "instance" is the address that was scraped.
constexpr std::string_view kHostLabels[] = {"hostname", "node", "nodename", "kubernetes_node",
                                            "exported_instance"};
constexpr std::string_view kIndexLabels[] = {"gpu", "gpu_id", "gpu_index", "index", "minor_number"};
constexpr std::string_view kUuidLabels[] = {"uuid", "gpu_uuid"};

// Names the host: the first of the places whose host is known, else the first that has one.
const NodeDirectory::Entry* name_host(std::span<const Label> labels, std::string_view page_host,
                                      const NodeDirectory& nodes, DeviceName& device) {
  std::string_view first;
  const NodeDirectory::Entry* found = nullptr;
  const auto try_host = [&](std::string_view text) {
    const std::string_view host = bare_host(text);
    if (host.empty() || found != nullptr) return;
    if (first.empty()) first = host;
    found = nodes.find(host);
  };
  for (const std::string_view name : kHostLabels) try_host(find_label(labels, name));
  try_host(page_host);
  try_host(find_label(labels, "instance"));
  device.host = found != nullptr ? found->node : std::string(without_domain(first));
  return found;
}

}  // namespace

void NodeDirectory::add(const Node& node) {
  const Entry entry{.node = node.name, .devices = [&] {
                      int32_t count = 0;
                      for (const DeviceGroup& group : node.devices) count += group.count;
                      return count;
                    }()};
  for (const std::string_view name :
       {std::string_view(node.name), std::string_view(node.hostname)}) {
    if (name.empty()) continue;
    names_.emplace(lower(name), entry);
    names_.emplace(lower(without_domain(name)), entry);
  }
}

const NodeDirectory::Entry* NodeDirectory::find(std::string_view host) const {
  std::string key = lower(host);
  auto found = names_.find(key);
  if (found == names_.end()) found = names_.find(std::string(without_domain(key)));
  return found == names_.end() ? nullptr : &found->second;
}

std::string_view bare_host(std::string_view text) {
  if (const size_t scheme = text.find("://"); scheme != text.npos) text.remove_prefix(scheme + 3);
  text = text.substr(0, text.find('/'));
  if (text.starts_with('['))
    return text.substr(1, text.find(']') == text.npos ? text.npos : text.find(']') - 1);
  const size_t colon = text.find(':');
  const bool has_port = colon != text.npos && text.find(':', colon + 1) == text.npos;
  return has_port ? text.substr(0, colon) : text;
}

std::string uuid_key(std::string_view uuid) {
  std::string key = lower(uuid);
  return key.starts_with("gpu-") ? key.substr(4) : key;
}

DeviceName name_device(std::span<const Label> labels, std::string_view page_host,
                       const NodeDirectory& nodes) {
  DeviceName device;
  const NodeDirectory::Entry* node = name_host(labels, page_host, nodes, device);
  for (const std::string_view name : kIndexLabels) {
    const auto index = read_index(find_label(labels, name));
    if (index) device.index = *index;
    if (index) break;
  }
  for (const std::string_view name : kUuidLabels) {
    if (device.uuid.empty()) device.uuid = find_label(labels, name);
  }
  device.slice = find_label(labels, "gpu_i_id");
  if (device.slice.empty()) device.slice = find_label(labels, "sub_dev");
  device.exporter = std::string(find_label(labels, "job")) + '|' +
                    std::string(find_label(labels, "instance")) + '|' + std::string(page_host);
  device.known = nodes.empty() || (node != nullptr && device.index < node->devices);
  return device;
}

}  // namespace fairlead::evidence

// Which device a series is about.
//
// Exporters name the host and the device in many ways: by label, by the address that was scraped,
// by number, by UUID. What the scheduler calls the node is what counts here, so hosts are looked
// up.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "evidence/exposition.h"
#include "model/node.h"

namespace fairlead::evidence {

// The nodes that the scheduler knows, by every name they may be met under.
class NodeDirectory {
 public:
  struct Entry {
    std::string node;
    int32_t devices = 0;
  };

  void add(const Node& node);

  // `host` as an exporter writes it: with or without a domain, in any case. Null: nobody knows it.
  const Entry* find(std::string_view host) const;
  bool empty() const { return names_.empty(); }

 private:
  boost::unordered_flat_map<std::string, Entry> names_;  // in lower case
};

struct DeviceName {
  std::string
      host;  // the scheduler's name of the node where known, else the exporter's without domain
  int32_t index = -1;
  std::string uuid;      // as it is written
  std::string slice;     // a part of the device (MIG instance, tile); empty: the whole
  std::string exporter;  // who says so
  bool known = false;    // the scheduler has such a device
};

// `page_host` is the host whose page it stands on, where that is known; empty otherwise.
DeviceName name_device(std::span<const Label> labels, std::string_view page_host,
                       const NodeDirectory& nodes);

// "http://n012.example:9400" -> "n012.example"; an address stays whole.
std::string_view bare_host(std::string_view text);

// "GPU-1B2c" and "1b2C" are one.
std::string uuid_key(std::string_view uuid);

}  // namespace fairlead::evidence

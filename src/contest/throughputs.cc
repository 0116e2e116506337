#include "contest/throughputs.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <cmath>

namespace fairlead::contest {
namespace {

namespace dom = simdjson::dom;

// "('ResNet-18 (batch size 16)', 2)" as the kind and the number of devices.
std::optional<std::pair<std::string, int64_t>> kind_of(std::string_view key) {
  const size_t end = key.rfind("', ");
  if (!key.starts_with("('") || !key.ends_with(")") || end == key.npos) return std::nullopt;
  int64_t devices = 0;
  for (const char c : key.substr(end + 3, key.size() - end - 4)) {
    if (c < '0' || c > '9' || devices > 1'000'000) return std::nullopt;
    devices = devices * 10 + (c - '0');
  }
  if (devices == 0) return std::nullopt;
  return std::pair(std::string(key.substr(2, end - 2)), devices);
}

}  // namespace

Result<Throughputs> Throughputs::read(std::string_view json, const std::string& source) {
  const auto bad = [&](std::string what) {
    return fail("throughputs-bad", std::move(what),
                "{\"v100\": {\"('LM (batch size 5)', 1)\": {\"null\": 9.8}}} is one entry",
                {.source = source});
  };
  dom::parser parser;
  dom::element root;
  if (parser.parse(simdjson::padded_string(json)).get(root) != simdjson::SUCCESS)
    return bad("this is no JSON");
  dom::object workers;
  if (root.get_object().get(workers) != simdjson::SUCCESS) return bad("this is no object");
  Throughputs table;
  for (const auto& [worker, kinds_of_worker] : workers) {
    dom::object kinds;
    if (kinds_of_worker.get_object().get(kinds) != simdjson::SUCCESS)
      return bad(fmt::format("'{}' is no object of kinds of jobs", worker));
    for (const auto& [key, entry] : kinds) {
      const auto kind = kind_of(key);
      double steps = 0;
      if (!kind || entry["null"].get_double().get(steps) != simdjson::SUCCESS || !(steps >= 0))
        return bad(fmt::format("'{}' of '{}' has no steps a second under \"null\"", key, worker));
      table.steps_[{std::string(worker), kind->first, kind->second}] = steps;
    }
  }
  return table;
}

std::optional<double> Throughputs::steps_per_second(const std::string& device,
                                                    const std::string& kind,
                                                    int64_t devices) const {
  const auto found = steps_.find({device, kind, devices});
  if (found == steps_.end() || found->second <= 0) return std::nullopt;
  return found->second;
}

Result<void> accept_devices(Match& match, const Throughputs& table,
                            std::span<const std::string> devices) {
  const auto& known = match.organisation.devices;
  std::vector<DeviceId> ids;
  for (const std::string& device : devices) {
    const auto it = std::ranges::find(known, device, &policy::DeviceClass::name);
    if (it == known.end())
      return fail("throughputs-unknown-device", fmt::format("no node has devices '{}'", device));
    ids.push_back(static_cast<DeviceId>(it - known.begin()));
  }
  match.others.clear();
  std::map<std::vector<Gang>, uint32_t> shapes;  // alike is what accepts the same
  for (Job& job : match.jobs) {
    const std::string& kind = match.organisation.classes[job.klass].name;
    const int64_t size = job.gang.total();
    const auto own = table.steps_per_second(devices[0], kind, size);
    if (!own)
      return fail("throughputs-unknown-kind",
                  fmt::format("'{}' on {} {} has no steps a second", kind, size, devices[0]));
    job.gang = gang_of(ids[0], size, 1);
    job.others_from = static_cast<uint32_t>(match.others.size());
    job.others = 0;
    std::vector<Gang> accepts = {job.gang};
    for (size_t d = 1; d < devices.size(); ++d) {
      const auto steps = table.steps_per_second(devices[d], kind, size);
      if (!steps) continue;
      match.others.push_back(
          {.gang = gang_of(ids[d], size, 1),
           .speed_ppm = std::max<int64_t>(1, std::llround(*steps / *own * 1e6))});
      accepts.push_back(match.others.back().gang);
      ++job.others;
    }
    job.shape = shapes.try_emplace(accepts, shapes.size()).first->second;
    for (uint32_t i = 0; i < job.others; ++i) match.others[job.others_from + i].shape = job.shape;
  }
  match.shapes = static_cast<uint32_t>(shapes.size());
  return {};
}

}  // namespace fairlead::contest

#include "policy/catalogue.h"

#include <algorithm>
#include <vector>

namespace fairlead::policy {

std::span<const std::string> known_models() {
  static const std::vector<std::string> kModels = {
      "A10",      "A100",     "A100-40G", "A100-80G", "A10G",   "A16",      "A2",        "A30",
      "A40",      "A800",     "B200",     "B300",     "GB200",  "GB300",    "GH200",     "Gaudi2",
      "Gaudi3",   "H100",     "H100-80G", "H100-94G", "H20",    "H200",     "H200-141G", "H800",
      "L20",      "L4",       "L40",      "L40S",     "MI100",  "MI210",    "MI250",     "MI250X",
      "MI300A",   "MI300X",   "MI325X",   "MI350X",   "MI355X", "P100",     "P4",        "P40",
      "RTX-4090", "RTX-5090", "RTX-6000", "T4",       "V100",   "V100-16G", "V100-32G",  "v4",
      "v5e",      "v5p",      "v6e",      "v7"};
  return kModels;
}

bool same_letters(std::string_view a, std::string_view b) {
  const auto small = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::ranges::equal(a, b, {}, small, small);
}

std::string_view known_model(std::string_view name) {
  for (const std::string& model : known_models())
    if (same_letters(model, name)) return model;
  return {};
}

}  // namespace fairlead::policy

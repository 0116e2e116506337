#include "policy/catalogue.h"

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

}  // namespace fairlead::policy

// An answer of Prometheus, or of what stands in its place.
#include <cstdint>

#include "adapters/prometheus/query_answer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fairlead;
  static const evidence::NodeDirectory kNodes;
  evidence::Normaliser normaliser(kNodes, instant_of_seconds(1'796'025'600));
  std::string matrix(reinterpret_cast<const char*>(data), size);
  std::string names = matrix, time = matrix;
  (void)prometheus::read_matrix(matrix, normaliser);
  (void)prometheus::read_names(names);
  (void)prometheus::read_time(time);
  (void)normaliser.finish();
  return 0;
}

#include <array>

#include "sim/history_read.h"

namespace fairlead {

std::span<const HistoryFormat> history_formats() {
  static constexpr std::array kFormats = {
      HistoryFormat{"sacct -P", is_sacct_text, read_sacct_text},
  };
  return kFormats;
}

}  // namespace fairlead

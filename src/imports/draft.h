// An organisation file in the making, for those who translate what another system says.
//
// Its text is laid out, so that `policy fmt` changes nothing, and passes the check. What the other
// system has and the language has not stands in comments, beside what it belongs to.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::imports {

struct DraftLine {
  std::string text;    // borrow 64 H100
  std::string remark;  // GrpTRES gres/gpu=64
};

struct DraftClass {
  std::string name;
  std::vector<std::string> remarks;  // lines above it
  std::vector<std::string> keys;     // rank 10
};

struct DraftTeam {
  std::string name;
  std::vector<std::string> remarks;  // lines above it
  std::vector<DraftLine> lines;
  std::vector<DraftTeam> teams;
};

struct Draft {
  std::string name;                  // of the organisation
  std::vector<std::string> remarks;  // lines at the top
  std::vector<std::string> devices;  // gpu { a100, h100 }
  std::vector<DraftClass> classes;
  DraftTeam root;
};

std::string to_policy(const Draft& draft);

// Names of one scope, each once.
class Names {
 public:
  // `foreign` where it is a name of the language and not taken, else the nearest that is.
  std::string take(std::string_view foreign);

 private:
  std::set<std::string> taken_;
};

// Whether a text can stand between quotes, and there means itself.
bool can_be_quoted(std::string_view text);

// `devices` counted as `device`, as amounts are written: 64 H100.
std::string amount_text(int64_t count, std::string_view device);

// The name under which the language knows a model: `h100` is H100.
std::string model_name(std::string_view model);

constexpr int64_t kWeightMax = 1'000'000, kRankMax = 1'000'000;  // given: by the language

}  // namespace fairlead::imports

// The values that stand behind the keys of an organisation file.
#pragma once

#include "lang/cursor.h"
#include "policy/tree.h"

namespace fairlead::policy {

// A read that fails has told why.
class ValueParser {
 public:
  using Need = lang::Cursor::Need;
  explicit ValueParser(lang::Cursor& cursor) : c_(cursor) {}

  // Returns whether there is a value.
  template <class T>
  static bool set(std::optional<T>& into, std::optional<T> value) {
    const bool read = value.has_value();
    if (read) into = std::move(value);
    return read;
  }

  std::optional<AmountNode> amount(const Need& need);             // 8 H100
  bool amounts(std::vector<AmountNode>& into, const Need& need);  // 8 H100, 4 A100
  bool names(std::vector<Word>& into, const Need& need);          // research, batch
  std::optional<BudgetNode> budget();                             // $120000 per 30d soft
  std::optional<WindowNode> window(Span during);                  // mon..fri 08:00..20:00 UTC
  std::optional<MembersNode> members();                           // slurm account "prod"
  std::optional<CapNode> cap(std::string_view what, std::string_view example);
  bool fleet(std::vector<FleetPartNode>& into);  // 32 nodes of 8 H100
  std::optional<WorkNode> work(bool running);    // r1 of research 20 x 8
  std::optional<ExpectNode> expect();            // admit p1 at 5m

 private:
  void refuse_glued(const Need& need);
  std::optional<uint8_t> days(const Need& need);
  std::optional<int> day(const Need& need);
  std::optional<int> clock(const Need& need, bool end);
  bool patterns(MembersNode& node, const Need& need);
  bool work_options(WorkNode& node);
  bool dims(WorkNode& node);
  std::optional<Word> place(const Need& need);

  lang::Cursor& c_;
};

}  // namespace fairlead::policy

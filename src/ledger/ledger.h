// Every device-second in exactly one column.
//
// An account says who holds what: model, team, class, user, partition (name numbers, 0 for none)
// and the column. A posting adds or takes an amount of devices to an account from a second on:
//
//   seconds(account, T) = sum over postings i of amount_i * (T - second_i)
//                       = amount(account) * T - weighted(account)
//
// so an account is two numbers, postings may come in any order, and one that comes late is not a
// special case. Time is cut into hours: when an hour is over, its seconds become rows and the sums
// start again; a posting with a second in a closed hour adds to that hour's rows. Rows are never
// taken away: a correction moves seconds between two rows of the same hour.
//
// The hardware is posted apart from the accounts, by whoever counts devices. The two must agree, in
// whole numbers, at every instant: `balanced()` compares the running sums, O(1).
//
// Unit: thousandths of a device ("milli"), so that a share adds up to its device; and whole
// seconds. Cost: a posting O(1) in the open hour, O(hours late) otherwise. docs/design/ledger.md
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <compare>
#include <cstdint>
#include <map>
#include <vector>

#include "base/names.h"
#include "model/column.h"

namespace fairlead {

constexpr int64_t kMilli = 1000;               // a whole device
constexpr int64_t kLedgerHour = 3600;          // seconds in a bucket
constexpr int64_t kLedgerHoursMax = 24 * 400;  // chosen: rows of a bit more than a year are kept

struct Account {
  NameId model = 0, team = 0, klass = 0, user = 0, partition = 0;
  Column column = Column::free;
  auto operator<=>(const Account&) const = default;
};
BOOST_DESCRIBE_STRUCT(Account, (), (model, team, klass, user, partition, column))

inline size_t hash_value(const Account& a) {
  uint64_t h = 0x9e3779b97f4a7c15ULL;
  for (const uint64_t part : {uint64_t{a.model} << 32 | a.team, uint64_t{a.klass} << 32 | a.user,
                              uint64_t{a.partition} << 8 | static_cast<uint64_t>(a.column)}) {
    h = (h ^ part) * 0xff51afd7ed558ccdULL;
    h ^= h >> 32;
  }
  return static_cast<size_t>(h);
}

// A sum over time that may be posted to out of order.
struct Running {
  int64_t amount = 0;    // milli-devices now
  int64_t weighted = 0;  // sum of amount_i * (second_i - start of the open hour)
  int64_t seconds_until(int64_t offset) const { return amount * offset - weighted; }
  bool operator==(const Running&) const = default;
};
BOOST_DESCRIBE_STRUCT(Running, (), (amount, weighted))

struct LedgerRow {
  uint32_t account = 0;       // index into `accounts`
  int64_t milli_seconds = 0;  // thousandths of a device-second
  bool operator==(const LedgerRow&) const = default;
};
BOOST_DESCRIBE_STRUCT(LedgerRow, (), (account, milli_seconds))

struct LedgerHour {
  std::vector<LedgerRow> rows;  // ascending by account
  int64_t hardware = 0;         // what all rows must add up to
  bool operator==(const LedgerHour&) const = default;
};
BOOST_DESCRIBE_STRUCT(LedgerHour, (), (rows, hardware))

struct LedgerData {
  int64_t opened = 0;  // first second; 0: not open yet
  int64_t hour = 0;    // start of the open hour
  std::vector<Account> accounts;
  std::vector<Running> running;  // by account
  Running hardware;
  std::map<int64_t, LedgerHour> hours;  // closed, by their first second
  bool operator==(const LedgerData&) const = default;
};
BOOST_DESCRIBE_STRUCT(LedgerData, (), (opened, hour, accounts, running, hardware, hours))

class Ledger {
 public:
  Ledger() = default;
  explicit Ledger(LedgerData data);

  // Nothing is booked before this second. Does nothing if the books are open. Requires: second > 0.
  void open(int64_t second);
  // Closes the hours that are over. Does nothing while the books are not open.
  void advance(int64_t second);

  // Requires: the books are open. A second before they opened counts as that second.
  void post(const Account& account, int64_t milli, int64_t second);
  void post_hardware(int64_t milli, int64_t second);
  void move(const Account& from, const Account& to, int64_t milli, int64_t second);

  // Moves what is already booked. Requires: `hour` is the start of a closed hour or of the open
  // one.
  void correct(const Account& from, const Account& to, int64_t hour, int64_t milli_seconds);

  // What is booked for `account` in the hour that starts at `hour`; of the open hour until
  // `second`.
  int64_t booked(const Account& account, int64_t hour, int64_t second) const;

  // Calls f(account, hour, milli_seconds) for each row of [from, until), open hour included. A
  // window's ends are taken to the hour; `until` cuts the open hour to the second.
  template <class F>
  void for_each(int64_t from, int64_t until, F&& f) const {
    for (auto it = data_.hours.lower_bound(from); it != data_.hours.end() && it->first < until;
         ++it) {
      for (const LedgerRow& row : it->second.rows)
        f(data_.accounts[row.account], it->first, row.milli_seconds);
    }
    if (data_.opened == 0 || until <= data_.hour) return;
    for (size_t i = 0; i < data_.running.size(); ++i) {
      const int64_t amount = data_.running[i].seconds_until(until - data_.hour);
      if (amount != 0) f(data_.accounts[i], data_.hour, amount);
    }
  }

  bool balanced() const { return sum_ == data_.hardware; }

  // Another number whenever rows of closed hours have changed, or an hour was closed.
  uint64_t closed_changes() const { return closed_changes_; }

  // Recounts everything. Returns the first hour (or the open hour) whose rows do not add up, or 0.
  int64_t first_unbalanced_hour() const;

  const LedgerData& data() const { return data_; }

 private:
  size_t index_of(const Account& account);
  void post_running(Running& running, Running* sum, int64_t milli, int64_t second);
  void add_to_closed(int64_t hour, size_t account, int64_t milli_seconds);
  void close_hour();

  LedgerData data_;
  uint64_t closed_changes_ = 0;
  Running sum_;  // over all accounts; equal to data_.hardware while the books balance
  boost::unordered_flat_map<Account, uint32_t> index_;
};

}  // namespace fairlead

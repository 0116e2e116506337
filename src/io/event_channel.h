// A stream of server-sent events that a reader can resume.
//
// The newest events stay in a ring. A reader states the id it saw last (Last-Event-ID) and gets
// what followed. Where the ring no longer holds that, or the id is not ours, it gets one event
// `missed` first, and reads the whole state anew. Ids rise; the caller gives them. What an earlier
// process gave has to lie below `start_id` (the time of the start in microseconds will do), else a
// reader that comes back after a restart would go on at a place that is not its own.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::io {

class EventChannel {
 public:
  explicit EventChannel(size_t ring_max = 4096, uint64_t start_id = 0)
      : ring_max_(ring_max), last_id_(start_id), lost_id_(start_id) {}
  EventChannel(const EventChannel&) = delete;
  EventChannel& operator=(const EventChannel&) = delete;

  // Requires: `id` is above all before it; `name` is one word.
  void publish(uint64_t id, std::string_view name, std::string_view data);

  uint64_t last_id() const { return last_id_; }
  size_t readers() const { return waiting_.size(); }  // that have read all and wait

  // Returns the text of the events after `cursor`, about `bytes_max` at most, and moves `cursor`.
  std::string take_after(uint64_t& cursor, size_t bytes_max = 256 << 10) const;

  // Cancels `timer` with the next publish(), as long as this lives.
  class Waiting {
   public:
    Waiting(EventChannel& channel, boost::asio::steady_timer& timer);
    ~Waiting();
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

   private:
    EventChannel& channel_;
    boost::asio::steady_timer* timer_;
  };

 private:
  struct Entry {
    uint64_t id;
    std::string text;
  };
  size_t ring_max_;
  std::deque<Entry> ring_;
  uint64_t last_id_;
  uint64_t lost_id_;  // newest that the ring no longer holds
  std::vector<boost::asio::steady_timer*> waiting_;
};

}  // namespace fairlead::io

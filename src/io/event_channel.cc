#include "io/event_channel.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"

namespace fairlead::io {
namespace {

std::string frame(uint64_t id, std::string_view name, std::string_view data) {
  std::string text = fmt::format("id: {}\n", id);
  if (!name.empty()) text += fmt::format("event: {}\n", name);
  while (true) {  // a line end inside the data needs a field of its own
    const size_t end = data.find('\n');
    text += fmt::format("data: {}\n", data.substr(0, end));
    if (end == data.npos) break;
    data.remove_prefix(end + 1);
  }
  return text + "\n";
}

}  // namespace

void EventChannel::publish(uint64_t id, std::string_view name, std::string_view data) {
  CHECK(id > last_id_);
  ring_.push_back({id, frame(id, name, data)});
  last_id_ = id;
  if (ring_.size() > ring_max_) {
    lost_id_ = ring_.front().id;
    ring_.pop_front();
  }
  for (boost::asio::steady_timer* timer : waiting_) timer->cancel();
}

std::string EventChannel::take_after(uint64_t& cursor, size_t bytes_max) const {
  std::string text;
  if (cursor < lost_id_ || cursor > last_id_) {
    cursor = last_id_;
    return frame(cursor, "missed", fmt::format("{{\"last_id\":{}}}", cursor));
  }
  auto entry = std::ranges::upper_bound(ring_, cursor, {}, &Entry::id);
  for (; entry != ring_.end() && (text.empty() || text.size() + entry->text.size() <= bytes_max);
       ++entry) {
    text += entry->text;
    cursor = entry->id;
  }
  return text;
}

EventChannel::Waiting::Waiting(EventChannel& channel, boost::asio::steady_timer& timer)
    : channel_(channel), timer_(&timer) {
  channel_.waiting_.push_back(timer_);
}

EventChannel::Waiting::~Waiting() { std::erase(channel_.waiting_, timer_); }

}  // namespace fairlead::io

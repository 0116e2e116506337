#include "runtime/feeds.h"

#include <fmt/format.h>

#include <algorithm>

#include "codec/event_json.h"

namespace fairlead {

ChildFeed::ChildFeed(io::asio::io_context& io, Site& site, io::Clock& clock,
                     ChildFeedOptions options)
    : io_(io), site_(site), clock_(clock), options_(std::move(options)) {}

ChildFeed::~ChildFeed() { *alive_ = false; }

void ChildFeed::start() {
  begin();
  if (!options_.once) io::spawn(io_, watch());
}

void ChildFeed::stop() {
  stopped_ = true;
  child_.reset();
}

void ChildFeed::restart() {
  child_.reset();
  failures_ = 0;
  start_at_ = clock_.now();
}

void ChildFeed::begin() {
  header_seen_ = false;
  last_line_ = clock_.now();
  start_at_ = {};
  auto child =
      io::Child::start(io_, {.argv = options_.argv,
                             .env = options_.env,
                             .on_line = [this](std::string_view line) { on_line(line); },
                             .on_exit = [this](const io::ChildExit& exit) { on_exit(exit); }});
  if (child) {
    child_.emplace(std::move(*child));
    return;
  }
  io::ChildExit none;
  none.problem = to_text(child.error());
  on_exit(none);
}

void ChildFeed::on_line(std::string_view line) {
  last_line_ = clock_.now();
  if (header_seen_) {
    const uint64_t before = site_.polls_ended(options_.source);
    site_.take_line(line);
    if (site_.polls_ended(options_.source) == before) return;
    if (site_.state().source(options_.source).ok) {
      failures_ = 0;
      problem_.clear();
    }
    return;
  }
  if (const auto good = check_event_header(line); good) {
    header_seen_ = true;
    return;
  } else {
    problem_ = to_text(good.error());
  }
  child_->ask_to_end();
}

void ChildFeed::on_exit(const io::ChildExit& exit) {
  // The child is still on the stack: it goes when the watch starts the next, or with this.
  ended_ = true;
  if (stopped_ || (options_.once && exit.good())) return;
  if (problem_.empty() || header_seen_)
    problem_ = fmt::format("{} {}", options_.argv[0], exit.to_text());
  site_.source_failed(options_.source, clock_.now(), problem_);
  constexpr int64_t kWaitMax = 30;  // chosen: a site that mends its bridge need not wait longer
  start_at_ =
      clock_.now() + seconds(std::min<int64_t>(kWaitMax, int64_t{1} << std::min(failures_, 5)));
  ++failures_;
}

io::asio::awaitable<void> ChildFeed::watch() {
  const std::shared_ptr<bool> alive = alive_;
  while (*alive && !stopped_) {
    const Instant now = clock_.now();
    if (start_at_.known() && now >= start_at_) begin();
    if (!start_at_.known() && child_ && now > last_line_ + options_.silence_max) {
      problem_ = fmt::format("{} said nothing for {}", options_.argv[0],
                             to_short_text(options_.silence_max));
      child_.reset();
      site_.source_failed(options_.source, now, problem_);
      start_at_ = now + seconds(1);
    }
    co_await io::sleep_for(io::milliseconds(250));
  }
}

}  // namespace fairlead

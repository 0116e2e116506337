// Where a site's events come from: programs that print event lines, and looks made in this process.
//
// A feed runs until it is stopped and keeps itself alive: a program that ends is started again,
// sooner at first and later each time it fails; what went wrong is told to the site as a poll that
// failed, so that facts grow old visibly.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "io/child.h"
#include "io/clock.h"
#include "runtime/site.h"

namespace fairlead {

struct ChildFeedOptions {
  std::vector<std::string> argv;
  std::vector<std::string> env;
  Source source = Source::scheduler;
  Duration silence_max = seconds(60);  // a program that says nothing for so long is started again
  bool once = false;                   // its end is not a failure, and it is not started again
};

class ChildFeed {
 public:
  ChildFeed(io::asio::io_context& io, Site& site, io::Clock& clock, ChildFeedOptions options);
  ~ChildFeed();
  ChildFeed(const ChildFeed&) = delete;
  ChildFeed& operator=(const ChildFeed&) = delete;

  void start();
  void stop();
  void restart();  // a full poll is wanted
  const std::string& problem() const {
    return problem_;
  }  // of the last end; empty while all is well
  bool ended() const { return ended_; }  // with `once`: the program has ended

 private:
  io::asio::awaitable<void> watch();
  void begin();
  void on_line(std::string_view line);
  void on_exit(const io::ChildExit& exit);

  io::asio::io_context& io_;
  Site& site_;
  io::Clock& clock_;
  ChildFeedOptions options_;
  std::optional<io::Child> child_;
  std::string problem_;
  bool header_seen_ = false;
  bool stopped_ = false;
  bool ended_ = false;
  Instant last_line_;
  Instant start_at_;  // when to start again
  int failures_ = 0;  // in a row
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace fairlead

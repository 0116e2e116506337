// fairlead top: teams, idle holds and waiting work, live on the whole terminal.
#include <fmt/format.h>
#include <unistd.h>

#include <mutex>
#include <optional>
#include <thread>

#include "apps/arguments.h"
#include "apps/commands.h"
#include "apps/report_output.h"
#include "apps/screen.h"
#include "present/top_text.h"

namespace fairlead {
namespace {

using Clock = std::chrono::steady_clock;

// Looks in a thread of its own, so that keys and signals are answered meanwhile.
class Looker {
 public:
  explicit Looker(const AskOptions& options) : asker_(options) {}
  ~Looker() {
    if (thread_.joinable()) thread_.join();
  }

  bool busy() const { return busy_; }
  bool waits_for_daemon() const { return busy_ && asker_.server_address().has_value(); }
  void begin() {
    if (thread_.joinable()) thread_.join();
    busy_ = true;
    thread_ = std::thread([this] {
      asker_.forget_look();
      auto report = ask_report(asker_, "");
      const std::lock_guard lock(mutex_);
      got_.emplace(std::move(report));
      Screen::wake();
    });
  }
  std::optional<Result<Report>> take() {
    const std::lock_guard lock(mutex_);
    if (got_) busy_ = false;
    return std::exchange(got_, std::nullopt);
  }

 private:
  Asker asker_;
  bool busy_ = false;
  std::mutex mutex_;
  std::optional<Result<Report>> got_;
  std::thread thread_;
};

std::optional<TopOrder> order_of(char key) {
  for (const TopKey& k : top_keys()) {
    if (k.key == key) return k.order;
  }
  return std::nullopt;
}

class Top {
 public:
  Top(Program& p, Duration period, bool by_class)
      : p_(p), period_(std::chrono::microseconds(period.us)), by_class_(by_class) {}

  int run() {
    Looker looker(p_.ask);
    std::optional<Diagnostic> failed;
    {
      Screen screen;
      draw(screen);
      failed = loop(screen, looker);
    }
    const int code = failed ? complain(*failed) : kExitGood;
    if (looker.waits_for_daemon()) ::_exit(code);  // nobody wants to wait for its answer
    return code;                                   // a look of our own ends its child first
  }

 private:
  // Ends with nothing, or with what went wrong before there was anything to show.
  std::optional<Diagnostic> loop(Screen& screen, Looker& looker) {
    auto next = Clock::now();
    while (true) {
      if (!looker.busy() && Clock::now() >= next) {
        looker.begin();
        next = Clock::now() + period_;
      }
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(next - Clock::now());
      const ScreenInput input = screen.wait(
          std::clamp(left, std::chrono::milliseconds(10), std::chrono::milliseconds(500)));
      if (input.event == ScreenEvent::ended) return {};
      if (input.event == ScreenEvent::key) {
        if (input.key == 'q' || input.key == 'Q') return {};
        if (input.key == 'c') by_class_ = !by_class_;
        if (const auto order = order_of(input.key)) order_ = *order;
      }
      if (auto got = looker.take()) {
        auto failed = shown(std::move(*got));
        if (failed && !report_) return failed;
      }
      if (input.event != ScreenEvent::none) draw(screen);
    }
  }

  std::optional<Diagnostic> shown(Result<Report> got) {
    if (got) {
      if (auto chosen = select_everywhere(*got, p_.output.query); !chosen)
        got = std::unexpected(chosen.error());
    }
    if (!got) {
      status_ = "not seen anew: " + got.error().message;
      return got.error();
    }
    status_.clear();
    report_ = std::move(*got);
    return {};
  }

  void draw(Screen& screen) {
    TopOptions options{.text = text_options(p_.output),
                       .height = screen.height(),
                       .order = order_,
                       .by_class = by_class_,
                       .status = status_};
    options.text.width = screen.width();
    screen.draw(report_ ? top_lines(*report_, options)
                        : std::vector<std::string>{"fairlead top: looking…   q quit"});
  }

  Program& p_;
  std::chrono::microseconds period_;
  std::optional<Report> report_;
  TopOrder order_ = TopOrder::as_told;
  bool by_class_;
  std::string status_;
};

// Where there is no screen to draw on: one picture below the other.
int plain_top(Program& p, Duration period, bool by_class) {
  constexpr int kLines = 60;  // chosen: a file scrolls, a picture should still be one page
  Asker asker(p.ask);
  while (true) {
    auto report = ask_report(asker, "");
    if (!report) return complain(report.error());
    if (const auto chosen = select_everywhere(*report, p.output.query); !chosen)
      return complain(chosen.error());
    TopOptions options{.text = text_options(p.output), .height = kLines, .by_class = by_class};
    options.status = "as of " + short_time(report->to);
    std::string page;
    for (const std::string& line : top_lines(std::move(*report), options)) page += line + "\n";
    if (const int code = print(page + "\n"); code != kExitGood) return code;
    ::usleep(static_cast<useconds_t>(period.us));
    asker.forget_look();
  }
}

}  // namespace

void add_top_command(Program& p) {
  CLI::App* top =
      add_command(p, "top", "teams, idle holds and waiting work, live; q quits",
                  "  fairlead top --by class\n  fairlead top --watch 5s --filter team=research");
  auto by = std::make_shared<std::string>("team");
  top->add_option("--by", *by, "team, with what each holds and owns, or class; key: c")
      ->check(one_of({"team", "class"}));
  add_watch_option(*top, p);
  top->add_option("--filter", p.output.query.filters, "rows of which this holds: team=research")
      ->allow_extra_args(false);
  add_ask_options(*top, p);
  top->callback([&p, by] {
    p.run = [&p, by] {
      const Duration period = p.watch.empty() ? seconds(2) : *parse_duration(p.watch);
      const bool by_class = *by == "class";
      return Screen::possible() ? Top(p, period, by_class).run() : plain_top(p, period, by_class);
    };
  });
}

}  // namespace fairlead

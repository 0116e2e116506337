// The whole terminal, for as long as a Screen lives: the alternate screen, keys as they are
// pressed, no cursor. Its end, and SIGINT, SIGTERM, SIGHUP and Ctrl-Z before it, leave the terminal
// as found.
//
// One Screen at a time: signals belong to the process.
#pragma once

#include <termios.h>

#include <chrono>
#include <string>
#include <vector>

namespace fairlead {

enum class ScreenEvent { none, key, resized, woken, ended };

struct ScreenInput {
  ScreenEvent event = ScreenEvent::none;
  char key = 0;
};

class Screen {
 public:
  static bool possible();  // stdin and stdout are a terminal that can be moved about in

  Screen();
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  void draw(const std::vector<std::string>& lines);

  // The next thing that happens; `none` after `limit`. A stop (Ctrl-Z) is handled here.
  ScreenInput wait(std::chrono::milliseconds limit);

  static void wake();  // from another thread: wait() returns `woken`

  int width() const { return width_; }
  int height() const { return height_; }

 private:
  void enter();
  void leave();
  void measure();

  termios found_{};
  int width_ = 80, height_ = 24;
};

}  // namespace fairlead

// A search as it goes on: on a terminal one status line that is redrawn, with events above it; elsewhere plain lines.
// Threading: one thread.
#ifndef WARPSMITH_CLI_PROGRESS_H_
#define WARPSMITH_CLI_PROGRESS_H_

#include <iosfwd>
#include <string>

#include "common/clock.h"
#include "warpsmith/v1/operator.pb.h"

namespace warpsmith::cli {

// "round 2/3 · 5 of 8 evaluated … · best 1.234 ms, 82.1 % of PyTorch (emulated)"
std::string StatusLine(const v1::SearchEvent& event);

class Progress {
 public:
  Progress(std::ostream& out, bool terminal, Clock& clock = RealClock());
  ~Progress();  // ends the status line

  void Say(const std::string& line);  // something that happened
  void OnEvent(const v1::SearchEvent& event);
  void Tick();  // keeps the elapsed time moving
  void Finish();

 private:
  void Draw();
  void Erase();

  std::ostream& out_;
  bool terminal_;
  Clock& clock_;
  TimePoint started_;
  TimePoint drawn_{};
  std::string status_;
  std::string last_line_;
  int last_round_ = 0;
  bool visible_ = false;
};

}  // namespace warpsmith::cli

#endif  // WARPSMITH_CLI_PROGRESS_H_

#include "cli/progress.h"

#include <fmt/format.h>

#include <ostream>

#include "cli/names.h"
#include "cli/text.h"

namespace warpsmith::cli {

std::string StatusLine(const v1::SearchEvent& event) {
  const v1::Search& search = event.search();
  if (Ended(search.state())) return SearchStateName(search.state());
  std::string line;
  if (search.state() == v1::SEARCH_STATE_INTAKE) {
    line = "intake: looking at the problem";
  } else if (search.rounds_size() > 0) {
    const v1::RoundSummary& round = search.rounds(search.rounds_size() - 1);
    line = fmt::format("round {}/{} · {} ideas, {} kernels, {} correct", round.round(),
                       search.settings().rounds() > 0 ? search.settings().rounds() : 5, round.ideas(),
                       round.generated(), round.correct());
  } else {
    line = "asking for ideas";
  }
  line += fmt::format(" · {} running, {} waiting", event.tasks_running(), event.tasks_waiting());
  if (search.best_ms() > 0) {
    line += fmt::format(" · best {} ms, {} of PyTorch{}", FormatMs(search.best_ms()),
                        FormatPercent(search.best_ratio_to_eager()), search.emulated() ? " (emulated)" : "");
  }
  if (search.usage().usd() > 0) line += fmt::format(" · ${:.2f}", search.usage().usd());
  return line;
}

Progress::Progress(std::ostream& out, bool terminal, Clock& clock)
    : out_(out), terminal_(terminal), clock_(clock), started_(clock.Now()) {}

Progress::~Progress() { Finish(); }

void Progress::Say(const std::string& line) {
  Erase();
  out_ << Line(line) << std::endl;
  Draw();
}

void Progress::OnEvent(const v1::SearchEvent& event) {
  status_ = StatusLine(event);
  // Streams are taken up again with the whole state: the same line is not told twice in a row.
  if (!event.line().empty() && event.line() != last_line_) {
    last_line_ = event.line();
    Say(event.line());
    return;
  }
  const int round = event.search().rounds_size();
  if (!terminal_ && round != last_round_) out_ << status_ << std::endl;
  last_round_ = round;
  Draw();
}

void Progress::Tick() {
  if (clock_.Now() - drawn_ >= std::chrono::milliseconds(500)) Draw();
}

void Progress::Erase() {
  if (visible_) out_ << "\r\033[K" << std::flush;
  visible_ = false;
}

void Progress::Draw() {
  if (!terminal_ || status_.empty()) return;
  Erase();
  const std::string elapsed = FormatSeconds(ToSeconds(clock_.Now() - started_));
  out_ << Fit(elapsed + " · " + status_, kPageWidth - 1) << std::flush;
  visible_ = true;
  drawn_ = clock_.Now();
}

void Progress::Finish() {
  Erase();
  status_.clear();
}

}  // namespace warpsmith::cli

// What reports of tests are put together from.
// Threading: pure. Units: milliseconds; instants are microseconds since 1970 UTC.
#ifndef WARPSMITH_TESTS_CLI_REPORT_REPORT_PARTS_H_
#define WARPSMITH_TESTS_CLI_REPORT_REPORT_PARTS_H_

#include <cstdint>
#include <string>

#include "warpsmith/v1/report.pb.h"

namespace warpsmith::testing {

inline constexpr int64_t kSubmitted = 1'764'500'000'000'000;
inline constexpr double kEager = 1.5;

// An id of 32 digits, of which the first 8 are the letter and the number.
std::string Hex(int number, const char* letter);

// Submitted by ada, under way, without anything yet.
v1::SearchReport Begun(const std::string& name);
void AddBaseline(v1::Search* search, const std::string& name, double ms, v1::PrecisionClass precision);
v1::IdeaNode* AddIdea(v1::SearchReport* report, int round, const std::string& parent, const std::string& title,
                      const std::string& category, const std::string& hypothesis);
v1::Candidate* AddCandidate(v1::IdeaNode* node, const std::string& id);
// A correct one.
v1::Candidate* AddTimed(v1::IdeaNode* node, const std::string& id, double ms, bool emulated = false);
void AddFailed(v1::IdeaNode* node, const std::string& id, v1::Outcome outcome, const std::string& reason,
               const std::string& message);
// Closed a minute after the last one. `round_best` 0: none was correct.
void AddRound(v1::Search* search, int ideas, int generated, int compiled, int correct, int faster, double round_best,
              const std::string& idea);

}  // namespace warpsmith::testing

#endif  // WARPSMITH_TESTS_CLI_REPORT_REPORT_PARTS_H_

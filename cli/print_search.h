// Searches for people: lists, the report at the end, the tree, why there is no gain.
// Threading: pure. Lines have at most 100 columns. Times from the emulated device are labelled.
#ifndef WARPSMITH_CLI_PRINT_SEARCH_H_
#define WARPSMITH_CLI_PRINT_SEARCH_H_

#include <string>

#include "warpsmith/v1/operator.pb.h"
#include "warpsmith/v1/search.pb.h"

namespace warpsmith::cli {

std::string SearchesText(const v1::ListSearchesReply& reply);

// Rounds, ideas, trajectory, winner. `winner_file` empty: nothing was written.
std::string ReportText(const v1::Search& search, const std::string& winner_file);

// One line on how a search stands or ended.
std::string HeadlineText(const v1::Search& search);

std::string TreeText(const v1::Tree& tree);

std::string ExplanationText(const v1::Explanation& explanation);

// Idea, where the candidate stands in the search, verdict. The source is printed by its own.
std::string CandidateText(const v1::Candidate& candidate);
std::string IdeaText(const v1::Idea& idea);

}  // namespace warpsmith::cli

#endif  // WARPSMITH_CLI_PRINT_SEARCH_H_

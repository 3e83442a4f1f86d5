// Commands on searches of a coordinator that runs. Each prints its result and returns the exit code.
// Threading: one thread.
#ifndef WARPSMITH_CLI_SEARCH_COMMANDS_H_
#define WARPSMITH_CLI_SEARCH_COMMANDS_H_

#include <functional>
#include <string>
#include <vector>

#include "cli/context.h"
#include "cli/operator_client.h"
#include "warpsmith/v1/operator.pb.h"

namespace warpsmith::cli {

// --coordinator; else WARPSMITH_COORDINATOR; else the cluster of the data directory. Unavailable says how to get one.
absl::StatusOr<std::string> CoordinatorAddress(const Context& context);
// Who gives the command.
std::string UserName();

// The same without the data directory; empty: none was given.
std::string GivenCoordinatorAddress(const Context& context);

// Settings of a search as the command line gives them.
struct SearchOptions {
  v1::SearchSettings settings;
  std::vector<std::string> accepted;  // names of precision classes
  std::string request_id;             // empty: a fresh one
};

absl::StatusOr<v1::SubmitSearchRequest> MakeSubmission(const std::string& file, const SearchOptions& options);

struct ShowOptions {
  std::string candidate_id;
  bool idea = false;  // none of the three: all
  bool source = false;
  bool verdict = false;
};

struct InjectIdeaOptions {
  std::string search_id;
  std::string title;
  std::string category;
  std::string hypothesis;
  std::vector<std::string> plan;
  std::string parent_id;
};

int RunSubmit(Context& context, const std::vector<std::string>& files, const SearchOptions& options);
int RunList(Context& context, const std::string& state, int limit);
// Searches may be named by a prefix; empty is the latest.
int RunWatch(Context& context, const std::string& search_id, bool summary);
int RunTree(Context& context, const std::string& search_id);
int RunExplain(Context& context, const std::string& search_id);
int RunCancel(Context& context, const std::string& search_id);
int RunShow(Context& context, const ShowOptions& options);
int RunInjectIdea(Context& context, const InjectIdeaOptions& options);
int RunInjectKernel(Context& context, const std::string& search_id, const std::string& file, const std::string& title);
int RunStatus(Context& context);

// Watches to the end with progress on `err` (none with --json). `poll` as in OperatorClient::Watch.
absl::StatusOr<v1::Search> WatchWithProgress(Context& context, OperatorClient& client, const std::string& search_id,
                                             const std::function<absl::Status()>& poll);

// Writes the best candidate's source to `file` (empty: nothing to write to, or no winner); its path.
absl::StatusOr<std::string> WriteWinner(OperatorClient& client, const v1::Search& search, const std::string& file);

// 0 with a valid kernel, 3 without one, 1 if the search failed or was cancelled.
int SearchExitCode(const v1::Search& search);

}  // namespace warpsmith::cli

#endif  // WARPSMITH_CLI_SEARCH_COMMANDS_H_

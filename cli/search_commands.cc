#include "cli/search_commands.h"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <ostream>

#include "cli/embedded/cluster.h"
#include "cli/embedded/data_directory.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "cli/message_json.h"
#include "cli/names.h"
#include "cli/print_cluster.h"
#include "cli/print_search.h"
#include "cli/problem_file.h"
#include "cli/progress.h"
#include "cli/text.h"
#include "common/file.h"
#include "common/hash.h"

namespace warpsmith::cli {
namespace {

// What a command that makes one call does with its answer.
template <typename Reply>
int Finish(Context& context, const absl::StatusOr<Reply>& reply, const std::function<std::string(const Reply&)>& text) {
  if (!reply.ok()) return Fail(context, reply.status());
  if (context.json) {
    context.out << MessageToJson(*reply) << '\n';
  } else {
    context.out << text(*reply);
  }
  context.out.flush();
  return kExitOk;
}

// A client, and the id of the search meant.
absl::StatusOr<std::unique_ptr<OperatorClient>> Connect(const Context& context) {
  WARPSMITH_ASSIGN_OR_RETURN(const std::string address, CoordinatorAddress(context));
  return std::make_unique<OperatorClient>(address);
}

absl::StatusOr<std::string> SearchId(OperatorClient& client, const std::string& given) {
  if (!given.empty()) return given;
  v1::ListSearchesRequest request;
  request.set_limit(1);
  WARPSMITH_ASSIGN_OR_RETURN(const v1::ListSearchesReply reply, client.ListSearches(request));
  if (reply.searches_size() == 0) {
    return NotFound("there are no searches yet; start one with `warpsmith submit FILE.py`");
  }
  return reply.searches(0).id();
}

template <typename Reply>
int CallOnSearch(Context& context, const std::string& given,
                 absl::StatusOr<Reply> (OperatorClient::*call)(const std::string&),
                 const std::function<std::string(const Reply&)>& text) {
  auto client = Connect(context);
  if (!client.ok()) return Fail(context, client.status());
  auto id = SearchId(**client, given);
  if (!id.ok()) return Fail(context, id.status());
  return Finish<Reply>(context, ((**client).*call)(*id), text);
}

}  // namespace

std::string UserName() {
  const passwd* me = getpwuid(geteuid());
  return me != nullptr ? Line(me->pw_name) : std::to_string(geteuid());
}

std::string GivenCoordinatorAddress(const Context& context) {
  if (!context.coordinator.empty()) return context.coordinator;
  const char* address = std::getenv("WARPSMITH_COORDINATOR");
  return address != nullptr ? address : "";
}

absl::StatusOr<std::string> CoordinatorAddress(const Context& context) {
  if (std::string given = GivenCoordinatorAddress(context); !given.empty()) return given;
  WARPSMITH_ASSIGN_OR_RETURN(const std::filesystem::path path, DataDirectoryPath(context.data_directory));
  if (auto address = FindRunningCluster(DataDirectory(path))) return *address;
  return Unavailable(
      fmt::format("no coordinator runs in {}; start one with `warpsmith up`, or say where it is with "
                  "--coordinator or WARPSMITH_COORDINATOR",
                  path.string()));
}

absl::StatusOr<v1::SubmitSearchRequest> MakeSubmission(const std::string& file, const SearchOptions& options) {
  WARPSMITH_ASSIGN_OR_RETURN(const ProblemFile problem, ReadProblemFile(file));
  v1::SubmitSearchRequest request;
  request.set_name(problem.name);
  request.set_source(problem.source);
  *request.mutable_settings() = options.settings;
  for (const std::string& name : options.accepted) {
    WARPSMITH_ASSIGN_OR_RETURN(const v1::PrecisionClass precision, ParsePrecision(name));
    request.mutable_settings()->add_accepted(precision);
  }
  request.set_request_id(options.request_id.empty() ? RandomHex(16) : options.request_id);
  request.set_submitted_by(UserName());
  return request;
}

int SearchExitCode(const v1::Search& search) {
  if (search.state() != v1::SEARCH_STATE_DONE) return kExitFailed;
  return search.best_candidate_id().empty() ? kExitNothing : kExitOk;
}

absl::StatusOr<v1::Search> WatchWithProgress(Context& context, OperatorClient& client, const std::string& search_id,
                                             const std::function<absl::Status()>& poll) {
  Progress progress(context.err, context.err_is_terminal);
  return client.Watch(
      search_id,
      [&](const v1::SearchEvent& event) {
        if (!context.json) progress.OnEvent(event);
      },
      [&] {
        if (!context.json) progress.Tick();
        return poll();
      });
}

absl::StatusOr<std::string> WriteWinner(OperatorClient& client, const v1::Search& search, const std::string& file) {
  if (file.empty() || search.best_candidate_id().empty()) return "";
  WARPSMITH_ASSIGN_OR_RETURN(const v1::Candidate winner, client.GetCandidate(search.best_candidate_id()));
  std::error_code error;
  const std::filesystem::path path = std::filesystem::absolute(file, error);
  std::filesystem::create_directories(path.parent_path(), error);
  WARPSMITH_RETURN_IF_ERROR(Annotate(WriteFileAtomically(path, winner.source()), "the winner's source"));
  return path.string();
}

int RunSubmit(Context& context, const std::vector<std::string>& files, const SearchOptions& options) {
  std::vector<v1::SubmitSearchRequest> requests;
  for (const std::string& file : files) {
    SearchOptions one = options;
    // One id for several files would make them one search.
    if (files.size() > 1 && !one.request_id.empty()) one.request_id += "/" + file;
    auto request = MakeSubmission(file, one);
    if (!request.ok()) return Fail(context, request.status());
    requests.push_back(std::move(request).value());
  }
  auto client = Connect(context);
  if (!client.ok()) return Fail(context, client.status());
  for (const v1::SubmitSearchRequest& request : requests) {
    const int code = Finish<v1::SubmitSearchReply>(
        context, (*client)->SubmitSearch(request), [&](const v1::SubmitSearchReply& reply) {
          return fmt::format("{}: search {}; follow it with `warpsmith watch {}`\n", Line(request.name()),
                             Line(reply.search_id()), ShortId(reply.search_id()));
        });
    if (code != kExitOk) return code;
  }
  return kExitOk;
}

int RunList(Context& context, const std::string& state, int limit) {
  auto client = Connect(context);
  if (!client.ok()) return Fail(context, client.status());
  v1::ListSearchesRequest request;
  request.set_state(state);
  request.set_limit(limit);
  return Finish<v1::ListSearchesReply>(context, (*client)->ListSearches(request), SearchesText);
}

int RunWatch(Context& context, const std::string& search_id, bool summary) {
  auto client = Connect(context);
  if (!client.ok()) return Fail(context, client.status());
  auto id = SearchId(**client, search_id);
  if (!id.ok()) return Fail(context, id.status());
  const auto poll = [] { return Interrupted() ? Cancelled("interrupted; the search goes on") : absl::OkStatus(); };
  absl::StatusOr<v1::Search> search = NotFound("");
  if (context.json) {
    search = (*client)->Watch(
        *id, [&](const v1::SearchEvent& event) { context.out << MessageToJson(event, true) << std::endl; }, poll);
  } else {
    search = WatchWithProgress(context, **client, *id, poll);
  }
  if (!search.ok()) return Fail(context, search.status());
  if (!context.json) {
    context.out << (summary ? ReportText(*search, "") : HeadlineText(*search) + "\n");
    if (!search->best_candidate_id().empty()) {
      context.out << fmt::format("the kernel: warpsmith show {} --source\n", ShortId(search->best_candidate_id()));
    }
    context.out.flush();
  }
  return SearchExitCode(*search);
}

int RunTree(Context& context, const std::string& search_id) {
  return CallOnSearch<v1::Tree>(context, search_id, &OperatorClient::GetTree, TreeText);
}

int RunExplain(Context& context, const std::string& search_id) {
  return CallOnSearch<v1::Explanation>(context, search_id, &OperatorClient::Explain, ExplanationText);
}

int RunCancel(Context& context, const std::string& search_id) {
  auto client = Connect(context);
  if (!client.ok()) return Fail(context, client.status());
  return Finish<v1::Search>(context, (*client)->CancelSearch(search_id),
                            [](const v1::Search& search) { return HeadlineText(search) + "\n"; });
}

int RunShow(Context& context, const ShowOptions& options) {
  auto client = Connect(context);
  if (!client.ok()) return Fail(context, client.status());
  const bool all = !options.idea && !options.source && !options.verdict;
  return Finish<v1::Candidate>(
      context, (*client)->GetCandidate(options.candidate_id), [&](const v1::Candidate& candidate) {
        std::string text;
        if (all || options.idea) text += IdeaText(candidate.idea());
        if (all || options.verdict) text += (text.empty() ? "" : "\n") + CandidateText(candidate);
        if (all) text += "\nsource\n";
        if (all || options.source) {
          // Into a file or a pipe the source goes as it is.
          const bool bare = options.source && !options.idea && !options.verdict && !context.out_is_terminal;
          text += bare ? candidate.source() : Block(candidate.source());
          if (!text.empty() && text.back() != '\n') text += '\n';
        }
        return text;
      });
}

int RunInjectIdea(Context& context, const InjectIdeaOptions& options) {
  auto client = Connect(context);
  if (!client.ok()) return Fail(context, client.status());
  v1::InjectIdeaRequest request;
  request.set_search_id(options.search_id);
  request.set_parent_id(options.parent_id);
  request.set_request_id(RandomHex(16));
  request.set_submitted_by(UserName());
  v1::Idea& idea = *request.mutable_idea();
  idea.set_title(options.title);
  idea.set_category(options.category);
  idea.set_hypothesis(options.hypothesis);
  for (const std::string& step : options.plan) idea.add_plan(step);
  idea.set_origin("operator");
  return Finish<v1::InjectReply>(context, (*client)->InjectIdea(request), [](const v1::InjectReply& reply) {
    return "idea " + Line(reply.id()) + " will be implemented\n";
  });
}

int RunInjectKernel(Context& context, const std::string& search_id, const std::string& file, const std::string& title) {
  auto source = ReadKernelFile(file);
  if (!source.ok()) return Fail(context, source.status());
  auto client = Connect(context);
  if (!client.ok()) return Fail(context, client.status());
  v1::InjectKernelRequest request;
  request.set_search_id(search_id);
  request.set_source(*source);
  request.set_title(title.empty() ? std::filesystem::path(file).stem().string() : title);
  request.set_request_id(RandomHex(16));
  request.set_submitted_by(UserName());
  return Finish<v1::InjectReply>(context, (*client)->InjectKernel(request), [](const v1::InjectReply& reply) {
    return "candidate " + Line(reply.id()) + " will be evaluated\n";
  });
}

int RunStatus(Context& context) {
  auto client = Connect(context);
  if (!client.ok()) return Fail(context, client.status());
  const std::string address = (*client)->address();
  return Finish<v1::ClusterStatus>(context, (*client)->GetStatus(),
                                   [&](const v1::ClusterStatus& status) { return StatusText(status, address); });
}

}  // namespace warpsmith::cli

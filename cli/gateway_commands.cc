#include "cli/gateway_commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "cli/exit_code.h"
#include "cli/message_json.h"
#include "cli/names.h"
#include "cli/print_gateway.h"
#include "cli/problem_file.h"
#include "cli/search_calls.h"
#include "cli/text.h"
#include "common/json.h"

namespace warpsmith::cli {
namespace {

absl::StatusOr<SearchEstimate> EstimateOne(GatewayAccess& gateway, const std::string& file,
                                           const SearchOptions& options) {
  WARPSMITH_ASSIGN_OR_RETURN(const v1::SubmitSearchRequest submission, MakeSubmission(file, options));
  WARPSMITH_ASSIGN_OR_RETURN(const search::SearchValues values, search::ResolveSettings(submission.settings()));
  v1::ProblemContext problem;
  problem.mutable_problem()->set_name(submission.name());
  problem.mutable_problem()->set_source(submission.source());
  *problem.mutable_accepted() = submission.settings().accepted();
  problem.set_frozen_weights(submission.settings().frozen_weights());
  SearchCalls calls = CallsOf(values);
  SearchEstimate estimate;
  estimate.name = submission.name();
  estimate.max_usd = values.max_usd;
  estimate.max_tokens = values.max_tokens;
  estimate.expected_calls = calls.expected;
  estimate.most_calls = calls.most;
  for (v1::EstimateRequest* request : {&calls.expected, &calls.most}) {
    *request->mutable_context() = problem;
    *request->mutable_models() = submission.settings().models();
  }
  WARPSMITH_ASSIGN_OR_RETURN(estimate.expected, gateway.Estimate(calls.expected));
  WARPSMITH_ASSIGN_OR_RETURN(estimate.most, gateway.Estimate(calls.most));
  return estimate;
}

Json Parsed(const google::protobuf::Message& message) { return Json::parse(MessageToJson(message)); }

Json CallsJson(const v1::EstimateRequest& request) {
  return {{"propose", request.propose_calls()},
          {"ideas_per_call", request.ideas_per_call()},
          {"implement", request.implement_calls()},
          {"repair", request.repair_calls()}};
}

Json EstimatesJson(const std::vector<SearchEstimate>& estimates) {
  Json list = Json::array();
  double usd = 0, most = 0;
  for (const SearchEstimate& one : estimates) {
    list.push_back({{"name", one.name},
                    {"expected_calls", CallsJson(one.expected_calls)},
                    {"most_calls", CallsJson(one.most_calls)},
                    {"expected", Parsed(one.expected)},
                    {"most", Parsed(one.most)},
                    {"expected_usd", one.expected.usd()},
                    {"most_usd", MostUsd(one)}});
    usd += one.expected.usd();
    most += MostUsd(one);
  }
  return {{"searches", std::move(list)}, {"expected_usd", usd}, {"most_usd", most}};
}

}  // namespace

int RunGatewayCheck(Context& context, const GatewayChoice& choice, const std::vector<std::string>& models) {
  auto gateway = OpenGateway(context, choice);
  if (!gateway.ok()) return Fail(context, gateway.status());
  if (!context.json) context.err << "asking " << Line((*gateway)->where()) << std::endl;
  v1::CheckModelsRequest request;
  for (const std::string& model : models) request.add_models(model);
  std::vector<v1::ModelCheck> checks;
  const absl::Status status = (*gateway)->Check(request, [&](const v1::ModelCheck& check) {
    checks.push_back(check);
    if (!context.json) {
      context.err << fmt::format("{}: {}", Line(check.model().name()), check.ok() ? "ok" : "failed") << std::endl;
    }
  });
  if (!status.ok()) return Fail(context, status);
  std::sort(checks.begin(), checks.end(),
            [](const v1::ModelCheck& a, const v1::ModelCheck& b) { return a.model().name() < b.model().name(); });
  if (context.json) {
    Json list = Json::array();
    for (const v1::ModelCheck& check : checks) list.push_back(Parsed(check));
    context.out << Json{{"checks", std::move(list)}}.dump(2) << std::endl;
  } else {
    context.out << ChecksText(checks) << std::flush;
  }
  const bool all = std::all_of(checks.begin(), checks.end(), [](const v1::ModelCheck& check) { return check.ok(); });
  return all ? kExitOk : kExitFailed;
}

int RunEstimate(Context& context, const GatewayChoice& choice, const std::vector<std::string>& files,
                const SearchOptions& options) {
  auto gateway = OpenGateway(context, choice);
  if (!gateway.ok()) return Fail(context, gateway.status());
  std::vector<SearchEstimate> estimates;
  for (const std::string& file : files) {
    auto estimate = EstimateOne(**gateway, file, options);
    if (!estimate.ok()) return Fail(context, estimate.status());
    estimates.push_back(*std::move(estimate));
  }
  if (context.json) {
    context.out << EstimatesJson(estimates).dump(2) << std::endl;
  } else {
    context.err << "prices and prompts of " << Line((*gateway)->where()) << std::endl;
    context.out << EstimateText(estimates) << std::flush;
  }
  return kExitOk;
}

}  // namespace warpsmith::cli

#include "llm_gateway/metrics/observed_provider.h"

namespace warpsmith::gateway {
namespace {

constexpr char kEmbeddings[] = "embedding";  // their prompt_version: a call without a reply to read

// Of a call that was asked again or replaced, by what it says itself.
std::string ResultOf(const v1::ModelCall& call, const char* otherwise) {
  if (call.finish_reason() == "error" || !call.error_class().empty()) return "model_error";
  if (call.finish_reason() == "refusal") return "refused";
  return otherwise;
}

}  // namespace

v1::ProposeIdeasReply ObservedProvider::ProposeIdeas(const v1::ProposeIdeasRequest& request, const CallScope& scope) {
  v1::ProposeIdeasReply reply = provider_->ProposeIdeas(request, scope);
  for (const v1::ModelCall& call : reply.calls()) {
    if (!is_catalog()) metrics_.CountCall(call);
    if (call.prompt_version() == kEmbeddings) continue;
    const char* otherwise = reply.ideas_size() > 0             ? "parsed"
                            : call.finish_reason() == "length" ? "truncated"
                                                               : "no_ideas";
    metrics_.CountReply(call, ResultOf(call, otherwise));
  }
  return reply;
}

v1::Implementation ObservedProvider::Count(v1::Implementation implementation) {
  for (const v1::ModelCall& call : implementation.earlier_calls()) {
    if (!is_catalog()) metrics_.CountCall(call);
    metrics_.CountReply(call, ResultOf(call, call.finish_reason() == "length" ? "truncated" : "replaced"));
  }
  if (implementation.has_call()) {
    if (!is_catalog()) metrics_.CountCall(implementation.call());
    metrics_.CountReply(implementation.call(), implementation.status() == "ok" ? "parsed" : implementation.status());
  }
  return implementation;
}

v1::Implementation ObservedProvider::Implement(const v1::ImplementIdeaRequest& request, int index,
                                               const CallScope& scope) {
  return Count(provider_->Implement(request, index, scope));
}

v1::Implementation ObservedProvider::Repair(const v1::RepairRequest& request, const CallScope& scope) {
  return Count(provider_->Repair(request, scope));
}

}  // namespace warpsmith::gateway

// Messages in a ReplyStore.
// Threading and errors: as ReplyStore; Internal for a stored reply of a message that this build does not know.
#ifndef WARPSMITH_LLM_GATEWAY_SERVICE_STORED_REPLY_H_
#define WARPSMITH_LLM_GATEWAY_SERVICE_STORED_REPLY_H_

#include <functional>
#include <optional>
#include <string>

#include "llm_gateway/service/reply_store.h"
#include "warpsmith/v1/gateway.pb.h"

namespace warpsmith::gateway {

// What makes a call the same call; empty where the caller gave no idempotency key.
inline std::string ReplyKey(const v1::CallContext& call, const std::string& kind) {
  return call.idempotency_key().empty() ? "" : kind + "\n" + call.idempotency_key();
}

// Who sets costs aside must tell a reply that was paid for before from a new one.
inline void MarkKept(v1::ProposeIdeasReply& reply) {
  for (v1::ModelCall& call : *reply.mutable_calls()) call.set_kept(true);
}
inline void MarkKept(v1::Implementation& implementation) {
  for (v1::ModelCall& call : *implementation.mutable_earlier_calls()) call.set_kept(true);
  if (implementation.has_call()) implementation.mutable_call()->set_kept(true);
}

template <typename Message>
std::optional<Message> FindStored(ReplyStore& store, const std::string& key) {
  std::optional<std::string> bytes = store.Find(key);
  Message message;
  if (!bytes || !message.ParseFromString(*bytes)) return std::nullopt;
  MarkKept(message);
  return message;
}

// `keep` says whether what was made is an answer, to be returned the next time too.
template <typename Message>
absl::StatusOr<Message> OnceStored(ReplyStore& store, const std::string& key, Cancellation& cancellation,
                                   const std::function<Message()>& make,
                                   const std::function<bool(const Message&)>& keep) {
  if (key.empty()) return make();
  std::optional<Message> made;
  absl::StatusOr<ReplyStore::Reply> reply = store.Once(key, cancellation, [&] {
    made = make();
    return ReplyStore::Made{made->SerializeAsString(), keep(*made)};
  });
  if (!reply.ok()) return reply.status();
  if (made) return *std::move(made);
  Message message;
  if (!message.ParseFromString(reply->bytes)) {
    return Internal("a stored reply is of a kind that this version does not know; remove the data directory's replies");
  }
  MarkKept(message);
  return message;
}

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_SERVICE_STORED_REPLY_H_

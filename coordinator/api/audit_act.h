// The act that a call is: who does what. A call's act is known to the thread that runs its handler, so that whatever
// the handler writes into the database can carry the act's row in the same transaction (audit_database.h), and no
// handler can forget it. Threading: an act belongs to its call; the functions work on the calling thread's act and do
// nothing without one.
#ifndef WARPSMITH_COORDINATOR_API_AUDIT_ACT_H_
#define WARPSMITH_COORDINATOR_API_AUDIT_ACT_H_

#include <memory>
#include <string>

namespace google::protobuf {
class Message;
}

namespace warpsmith::api {

struct Act {
  std::string actor;
  std::string role;
  std::string peer;
  std::string action;     // "OperatorService/CancelSearch"
  std::string search_id;  // whole; empty: none, or several
  std::string subject;
  std::string detail;
  bool recorded = false;
};

// The calling thread's; null: none.
std::shared_ptr<Act> CurrentAct();
// The thread holds it only weakly: it ends with its call, wherever that ends.
void SetCurrentAct(const std::shared_ptr<Act>& act);

// Handlers say what the act is done to, where the request does not.
void NoteSearch(const std::string& search_id);
void NoteSubject(const std::string& subject);

// "/warpsmith.v1.OperatorService/CancelSearch" -> "OperatorService/CancelSearch".
std::string ActionOf(const std::string& path);
// A request says in its field `submitted_by` who sends it; where a token says it too, that counts.
void SetSubmitter(const std::string& name, google::protobuf::Message* request);
// The request's short fields, "title=by hand limit=3"; of what is long its size; of sources the first digits of the
// SHA-256. At most 600 bytes.
std::string DetailOf(const google::protobuf::Message& request);

}  // namespace warpsmith::api

#endif  // WARPSMITH_COORDINATOR_API_AUDIT_ACT_H_

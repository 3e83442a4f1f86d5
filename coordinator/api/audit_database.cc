#include "coordinator/api/audit_database.h"

#include "coordinator/store/text.h"

namespace warpsmith::api {
namespace {

absl::Status InsertAct(store::Transaction& transaction, const Act& act) {
  return transaction
      .Execute("audit_insert",
               {store::CleanLine(act.actor, 200), store::CleanLine(act.role, 40), store::CleanLine(act.peer, 200),
                store::CleanLine(act.action, 200), store::CleanLine(act.search_id, 64),
                store::CleanLine(act.subject, 200), store::CleanLine(act.detail, 600)})
      .status();
}

}  // namespace

absl::Status AuditDatabase::Write(const store::Work& work) {
  const std::shared_ptr<Act> act = CurrentAct();
  if (!act || act->recorded) return database_.Write(work);
  absl::Status status = database_.Write([&](store::Transaction& transaction) -> absl::Status {
    WARPSMITH_RETURN_IF_ERROR(work(transaction));
    return InsertAct(transaction, *act);
  });
  if (status.ok()) act->recorded = true;
  return status;
}

absl::Status AuditDatabase::Record(Act& act) {
  absl::Status status = database_.Write([&](store::Transaction& transaction) { return InsertAct(transaction, act); });
  if (status.ok()) act.recorded = true;
  return status;
}

}  // namespace warpsmith::api

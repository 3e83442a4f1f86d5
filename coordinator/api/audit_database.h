// A database that writes the calling thread's act into the audit, in the same transaction as the first thing that the
// act's call writes. Everything else passes through.
// Threading: as the database beneath.
#ifndef WARPSMITH_COORDINATOR_API_AUDIT_DATABASE_H_
#define WARPSMITH_COORDINATOR_API_AUDIT_DATABASE_H_

#include "coordinator/api/audit_act.h"
#include "coordinator/store/database.h"

namespace warpsmith::api {

class AuditDatabase final : public store::Database {
 public:
  explicit AuditDatabase(store::Database& database) : database_(database) {}

  absl::Status Write(const store::Work& work) override;
  absl::Status Read(const store::Work& work) override { return database_.Read(work); }
  // An act that wrote nothing, in a transaction of its own.
  absl::Status Record(Act& act);

 private:
  store::Database& database_;
};

}  // namespace warpsmith::api

#endif  // WARPSMITH_COORDINATOR_API_AUDIT_DATABASE_H_

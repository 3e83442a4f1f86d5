#include "tests/simulation/faulty_database.h"

#include <optional>

namespace warpsmith::simulation {
namespace {

constexpr int kStatementsAtMost = 14;  // of most transactions; a fault after the last one does not come about

// What is to go wrong in a transaction, once, even if it is run again after a deadlock.
struct TransactionFault {
  enum class Kind { kNone, kStatement, kCrashAtStatement, kLostCommit, kCrashAfterCommit };
  Kind kind = Kind::kNone;
  int at = 0;  // before this statement
  absl::Status error;
  bool met = false;
};

TransactionFault DrawFault(World& world, bool write) {
  TransactionFault fault;
  fault.at = world.random.Int(0, kStatementsAtMost);
  if (world.Fault(world.rates.crash)) {
    fault.kind = write && world.random.Chance(0.4) ? TransactionFault::Kind::kCrashAfterCommit
                                                   : TransactionFault::Kind::kCrashAtStatement;
    fault.error = Cancelled("the coordinator dies");
  } else if (world.Fault(world.rates.statement)) {
    fault.kind = TransactionFault::Kind::kStatement;
    switch (world.random.Int(0, 5)) {
      case 0:
        fault.error = ResourceExhausted("the database's disk is full: drawn");
        break;
      case 1:
        fault.error = DeadlineExceeded("the database took too long: drawn");
        break;
      case 2:
      case 3:
        fault.error = MakeStatus(absl::StatusCode::kAborted, "a deadlock: drawn");
        break;
      default:
        fault.error = Unavailable("lost the database: drawn");
    }
  } else if (write && world.Fault(world.rates.commit)) {
    fault.kind = TransactionFault::Kind::kLostCommit;
    fault.error = Unavailable("lost the database while committing: drawn");
  }
  return fault;
}

class FaultyTransaction final : public store::Transaction {
 public:
  FaultyTransaction(World& world, store::Transaction& real, TransactionFault& fault)
      : world_(world), real_(real), fault_(fault) {}

  absl::StatusOr<store::ResultSet> Execute(std::string_view statement, const store::Parameters& parameters) override {
    if (broken_) return Internal("database error: current transaction is aborted (SQLSTATE 25P02)");
    const bool mine =
        fault_.kind == TransactionFault::Kind::kStatement || fault_.kind == TransactionFault::Kind::kCrashAtStatement;
    if (mine && !fault_.met && statements_ == fault_.at) {
      fault_.met = true;
      broken_ = true;
      world_.Note("database: {} at {}", Message(fault_.error), statement);
      return fault_.error;
    }
    ++statements_;
    ++world_.statements;
    auto rows = real_.Execute(statement, parameters);
    if (!rows.ok()) {
      broken_ = true;
      world_.Violate(fmt::format("statement {} fails: {}", statement, Message(rows.status())));
    }
    return rows;
  }

  bool broken() const { return broken_; }

 private:
  World& world_;
  store::Transaction& real_;
  TransactionFault& fault_;
  int statements_ = 0;
  bool broken_ = false;
};

}  // namespace

absl::Status FaultyDatabase::Run(const store::Work& work, bool write) {
  absl::Status status = RunWithFaults(work, write);
  failed_ = !status.ok();
  return status;
}

absl::Status FaultyDatabase::RunWithFaults(const store::Work& work, bool write) {
  if (world_.in_transaction) {
    world_.Violate("a transaction was begun inside another one");
    return Internal("a transaction inside another one");
  }
  if (world_.scheduler.now() < world_.database_away_until) return Unavailable("cannot reach the database: drawn");
  TransactionFault fault = DrawFault(world_, write);
  const auto body = [&](store::Transaction& real) -> absl::Status {
    WARPSMITH_RETURN_IF_ERROR(simulated_.SetNow(real, clock_.WallMicros()));
    FaultyTransaction transaction(world_, real, fault);
    absl::Status status = work(transaction);
    if (transaction.broken() && status.ok()) {
      if (fault.kind != TransactionFault::Kind::kNone) world_.Violate("an error of the database was swallowed");
      return Internal("the transaction was aborted");
    }
    return status;
  };
  simulated_.postgres().SetTerm(write ? term_ : 0);
  world_.in_transaction = true;
  ++world_.transactions;
  absl::Status status = write ? simulated_.postgres().Write(body) : simulated_.postgres().Read(body);
  world_.in_transaction = false;

  const bool drawn = fault.met;
  if (fault.kind == TransactionFault::Kind::kCrashAtStatement && drawn) {
    world_.Note("{} dies in a transaction", coordinator_);
    throw CoordinatorCrash();
  }
  if (write && superseded_ && status.ok()) world_.Violate("a coordinator whose term is over has written");
  if (!drawn && (absl::IsInternal(status) || absl::IsAlreadyExists(status))) {
    world_.Violate("a transaction fails: " + Message(status));
  }
  if (!superseded_ && absl::IsFailedPrecondition(status) &&
      Message(status).find("no longer leads") != std::string::npos) {
    world_.Violate("the leader was refused: " + Message(status));
  }
  if (!status.ok()) return status;
  if (fault.kind == TransactionFault::Kind::kCrashAfterCommit) {
    world_.Note("{} dies right after a commit", coordinator_);
    throw CoordinatorCrash();
  }
  if (fault.kind == TransactionFault::Kind::kLostCommit) {
    world_.Note("database: {}", Message(fault.error));
    return fault.error;
  }
  return status;
}

}  // namespace warpsmith::simulation

// Who may call what: bearer tokens, each of a role and a name, kept as SHA-256 in a file of lines "ROLE SHA256 NAME".
// Threading: pure functions; AccessControl is safe from any thread and reads its file again, when it changes, on a
// thread of its own. Errors: name the file, the line and the remedy. A token itself is in no message.
#ifndef WARPSMITH_COMMON_ACCESS_H_
#define WARPSMITH_COMMON_ACCESS_H_

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "common/clock.h"
#include "common/status.h"

namespace warpsmith {

enum class Role { kViewer, kOperator, kWorker, kGateway };

const char* RoleName(Role role);
std::optional<Role> ParseRole(std::string_view name);

struct TokenIdentity {
  Role role = Role::kViewer;
  std::string name;
};

// A fresh token, and its line for the tokens file. InvalidArgument for a name that such a file cannot hold.
struct NewToken {
  std::string token;
  std::string line;
};
absl::StatusOr<NewToken> MakeToken(Role role, const std::string& name);

// Whether the method only looks: Get..., List..., Watch..., Explain..., Export.... `path` is gRPC's
// "/package.Service/Method".
bool IsReadOnly(std::string_view path);
// Health checks are answered to anybody.
bool IsOpenToAll(std::string_view path);
// OK, or PermissionDenied that says which role is asked for. Workers: WorkerService. Gateways (the coordinator's token
// at a gateway, the gateway's at a coordinator): RateSharingService and GatewayService. Viewers: what only looks.
// Operators: what viewers may and all that is left.
absl::Status CheckRole(const TokenIdentity& identity, std::string_view path);

// Whether a worker's id may be used with this token: its name, or the name with "-" and a number behind it, one a GPU.
bool WorkerIdFits(std::string_view worker_id, std::string_view token_name);

class AccessControl {
 public:
  static absl::StatusOr<std::shared_ptr<AccessControl>> Open(const std::string& file,
                                                             Duration look_every = std::chrono::seconds(1));
  ~AccessControl();
  AccessControl(const AccessControl&) = delete;
  AccessControl& operator=(const AccessControl&) = delete;

  // All hashes are compared, in constant time each.
  std::optional<TokenIdentity> Find(std::string_view token) const;
  // Whether the call with this "authorization" metadata ("Bearer ...", or empty) may be made: who makes it.
  // Unauthenticated or PermissionDenied.
  absl::StatusOr<TokenIdentity> Check(std::string_view authorization, std::string_view path) const;
  // Grows with every change of the file that was taken: what was checked before is to be checked again.
  int64_t generation() const;

 private:
  struct Entry {
    std::string sha256;
    TokenIdentity identity;
  };
  using Table = std::vector<Entry>;
  explicit AccessControl(std::string file) : file_(std::move(file)) {}
  static absl::StatusOr<Table> Load(const std::string& file);
  void Watch(Duration look_every);

  const std::string file_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::shared_ptr<const Table> table_;  // guarded by mutex_
  int64_t generation_ = 1;              // guarded by mutex_
  bool stopping_ = false;               // guarded by mutex_
  std::string seen_;                    // the watching thread's: what the file was when it was last read
  std::thread thread_;
};

// A client's token, from a file that holds nothing else; read again when the file changes.
// Threading: safe from any thread.
class TokenFile {
 public:
  explicit TokenFile(std::string file) : file_(std::move(file)) {}
  // FailedPrecondition where others may read it, NotFound, InvalidArgument.
  absl::StatusOr<std::string> Token();

 private:
  const std::string file_;
  std::mutex mutex_;
  std::string seen_;   // guarded by mutex_
  std::string token_;  // guarded by mutex_
};

}  // namespace warpsmith

#endif  // WARPSMITH_COMMON_ACCESS_H_

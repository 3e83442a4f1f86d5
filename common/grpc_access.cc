#include "common/grpc_access.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <mutex>

#include "common/grpc_status.h"

namespace warpsmith {
namespace {

constexpr char kAuthorization[] = "authorization";
constexpr std::string_view kBearerStart = "Bearer ";
constexpr size_t kLongestUser = 80;

std::string_view View(const grpc::string_ref& text) { return {text.data(), text.size()}; }

std::string_view ValueOf(const grpc::AuthMetadataProcessor::InputMetadata& metadata, const char* key) {
  const auto found = metadata.find(key);
  return found == metadata.end() ? std::string_view() : View(found->second);
}

class AccessProcessor final : public grpc::AuthMetadataProcessor {
 public:
  explicit AccessProcessor(std::shared_ptr<const AccessControl> access) : access_(std::move(access)) {}

  bool IsBlocking() const override { return false; }

  grpc::Status Process(const InputMetadata& metadata, grpc::AuthContext* context, OutputMetadata*,
                       OutputMetadata*) override {
    const std::string_view path = ValueOf(metadata, ":path");
    if (IsOpenToAll(path)) return grpc::Status::OK;
    absl::Status status;
    if (metadata.count(kAuthorization) > 1) {
      status = MakeStatus(absl::StatusCode::kUnauthenticated, "more than one token came with the call; send one");
    } else {
      auto identity = access_->Check(ValueOf(metadata, kAuthorization), path);
      status = identity.ok() ? CheckCertificate(*identity, *context) : identity.status();
    }
    if (!status.ok()) Log(path, status);
    return ToGrpc(status);
  }

 private:
  static absl::Status CheckCertificate(const TokenIdentity& identity, const grpc::AuthContext& context) {
    if (identity.role != Role::kWorker) return absl::OkStatus();
    const std::vector<grpc::string_ref> names = context.FindPropertyValues("x509_common_name");
    if (names.empty()) return absl::OkStatus();
    const bool same = std::any_of(names.begin(), names.end(),
                                  [&](const grpc::string_ref& name) { return View(name) == identity.name; });
    if (same) return absl::OkStatus();
    return MakeStatus(absl::StatusCode::kPermissionDenied,
                      fmt::format("the token is worker {}'s, the certificate {}'s; give both of the same node",
                                  identity.name, Printable(View(names[0]))));
  }

  static std::string Printable(std::string_view text) {
    std::string out(text.substr(0, 200));
    std::replace_if(
        out.begin(), out.end(), [](unsigned char c) { return c < 0x20 || c > 0x7e; }, '?');
    return out;
  }

  void Log(std::string_view path, const absl::Status& status) {
    std::lock_guard lock(mutex_);
    const TimePoint now = RealClock().Now();
    if (now < next_log_) {
      ++unlogged_;
      return;
    }
    spdlog::warn("refused {}: {}{}", Printable(path), Message(status),
                 unlogged_ > 0 ? fmt::format(" ({} more were refused before)", unlogged_) : "");
    next_log_ = now + std::chrono::seconds(1);
    unlogged_ = 0;
  }

  const std::shared_ptr<const AccessControl> access_;
  std::mutex mutex_;
  TimePoint next_log_{};  // guarded by mutex_
  int64_t unlogged_ = 0;  // guarded by mutex_
};

std::string MetadataOf(const grpc::ServerContextBase& context, const char* key) {
  const auto found = context.client_metadata().find(key);
  return found == context.client_metadata().end() ? std::string() : std::string(View(found->second));
}

}  // namespace

std::shared_ptr<grpc::AuthMetadataProcessor> MakeAccessProcessor(std::shared_ptr<const AccessControl> access) {
  return std::make_shared<AccessProcessor>(std::move(access));
}

std::string AuthorizationOf(const grpc::ServerContextBase& context) { return MetadataOf(context, kAuthorization); }

Actor ActorOf(const grpc::ServerContextBase& context, const AccessControl* access) {
  Actor actor;
  actor.peer = context.peer();
  if (access != nullptr) {
    const std::string authorization = AuthorizationOf(context);
    if (authorization.rfind(kBearerStart, 0) == 0) {
      if (const auto identity = access->Find(std::string_view(authorization).substr(kBearerStart.size()))) {
        return {identity->name, RoleName(identity->role), actor.peer};
      }
    }
    return {"", "", actor.peer};
  }
  std::string user = MetadataOf(context, kUserMetadata).substr(0, kLongestUser);
  std::replace_if(
      user.begin(), user.end(), [](unsigned char c) { return c < 0x21 || c > 0x7e; }, '?');
  actor.name = "local:" + (user.empty() ? "unknown" : user);
  actor.role = "local";
  return actor;
}

}  // namespace warpsmith

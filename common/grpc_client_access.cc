#include "common/grpc_client_access.h"

#include <fmt/format.h>
#include <grpcpp/support/status.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "common/grpc_access.h"
#include "common/grpc_status.h"

namespace warpsmith {
namespace {

using grpc::experimental::ClientRpcInfo;
using grpc::experimental::InterceptionHookPoints;
using grpc::experimental::Interceptor;
using grpc::experimental::InterceptorBatchMethods;

class MetadataInterceptor final : public Interceptor {
 public:
  MetadataInterceptor(const char* key, std::string value) : key_(key), value_(std::move(value)) {}
  void Intercept(InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_INITIAL_METADATA)) {
      methods->GetSendInitialMetadata()->emplace(key_, value_);
    }
    methods->Proceed();
  }

 private:
  const char* const key_;
  const std::string value_;
};

class RefusingInterceptor final : public Interceptor {
 public:
  explicit RefusingInterceptor(grpc::Status status) : status_(std::move(status)) {}
  void Intercept(InterceptorBatchMethods* methods) override {
    bool hijack = false;
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_INITIAL_METADATA)) hijack = true;
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::PRE_RECV_MESSAGE)) {
      methods->FailHijackedRecvMessage();
    }
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::PRE_RECV_STATUS)) {
      *methods->GetRecvStatus() = status_;
    }
    if (hijack) {
      methods->Hijack();
    } else {
      methods->Proceed();
    }
  }

 private:
  const grpc::Status status_;
};

class TokenFactory final : public grpc::experimental::ClientInterceptorFactoryInterface {
 public:
  explicit TokenFactory(std::shared_ptr<TokenFile> tokens) : tokens_(std::move(tokens)) {}
  Interceptor* CreateClientInterceptor(ClientRpcInfo*) override {
    auto token = tokens_->Token();
    if (!token.ok()) return new RefusingInterceptor(ToGrpc(token.status()));
    return new MetadataInterceptor("authorization", "Bearer " + *token);
  }

 private:
  const std::shared_ptr<TokenFile> tokens_;
};

std::string ThisUser() {
  passwd entry{};
  passwd* found = nullptr;
  std::vector<char> buffer(16384);
  std::string name;
  if (getpwuid_r(geteuid(), &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr) {
    name = found->pw_name;
  }
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return c < 0x21 || c > 0x7e; }, '?');
  return fmt::format("{}/{}", geteuid(), name);
}

class UserFactory final : public grpc::experimental::ClientInterceptorFactoryInterface {
 public:
  Interceptor* CreateClientInterceptor(ClientRpcInfo* call) override {
    const std::string_view path = call->method();
    // Streams of workers and questions are no acts, and need not be slowed down.
    if (IsReadOnly(path) || path.rfind("/warpsmith.v1.WorkerService/", 0) == 0) return nullptr;
    static const std::string user = ThisUser();
    return new MetadataInterceptor(kUserMetadata, user);
  }
};

class RefusingFactory final : public grpc::experimental::ClientInterceptorFactoryInterface {
 public:
  explicit RefusingFactory(grpc::Status status) : status_(std::move(status)) {}
  Interceptor* CreateClientInterceptor(ClientRpcInfo*) override { return new RefusingInterceptor(status_); }

 private:
  const grpc::Status status_;
};

}  // namespace

ClientInterceptorFactory SendToken(std::shared_ptr<TokenFile> tokens) {
  return std::make_unique<TokenFactory>(std::move(tokens));
}

ClientInterceptorFactory SendUser() { return std::make_unique<UserFactory>(); }

ClientInterceptorFactory RefuseCalls(const absl::Status& status) {
  return std::make_unique<RefusingFactory>(ToGrpc(status));
}

}  // namespace warpsmith

#include "common/access.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <sstream>
#include <utility>

#include "common/file.h"
#include "common/hash.h"

namespace warpsmith {
namespace {

constexpr size_t kLargestTokensFile = 1u << 20;
constexpr size_t kLargestTokenFile = 4096;
constexpr size_t kLongestName = 100;
constexpr std::string_view kTokenStart = "warpsmith_";
constexpr std::string_view kBearer = "Bearer ";
constexpr std::array<std::string_view, 5> kReads = {"Get", "List", "Watch", "Explain", "Export"};
constexpr std::array<std::pair<Role, const char*>, 4> kRoles = {
    {{Role::kViewer, "viewer"}, {Role::kOperator, "operator"}, {Role::kWorker, "worker"}, {Role::kGateway, "gateway"}}};

bool UsableName(std::string_view name) {
  return !name.empty() && name.size() <= kLongestName && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '-' || c == '_';
  });
}

bool IsSha256(const std::string& text) {
  return text.size() == 64 && std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

// What changes when a file does.
std::string StateOf(const std::string& file) {
  struct stat information {};
  if (stat(file.c_str(), &information) != 0) return "";
  return fmt::format("{}/{}/{}.{}", information.st_ino, information.st_size, information.st_mtim.tv_sec,
                     information.st_mtim.tv_nsec);
}

std::string_view ServiceOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos || slash == 0 ? "" : path.substr(1, slash - 1);
}

std::string_view MethodOf(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

const char* RoleName(Role role) {
  for (const auto& [known, name] : kRoles) {
    if (known == role) return name;
  }
  return "";
}

std::optional<Role> ParseRole(std::string_view name) {
  for (const auto& [role, known] : kRoles) {
    if (name == known) return role;
  }
  return std::nullopt;
}

absl::StatusOr<NewToken> MakeToken(Role role, const std::string& name) {
  if (!UsableName(name)) {
    return InvalidArgument(fmt::format(
        "a token's name must have 1 to {} letters, digits, dots, dashes and underscores; a worker's is its node's",
        kLongestName));
  }
  NewToken made;
  made.token = fmt::format("{}{}", kTokenStart, RandomHex(32));
  made.line = fmt::format("{} {} {}", RoleName(role), Sha256Hex(made.token), name);
  return made;
}

bool IsReadOnly(std::string_view path) {
  const std::string_view method = MethodOf(path);
  return std::any_of(kReads.begin(), kReads.end(),
                     [&](std::string_view start) { return method.substr(0, start.size()) == start; });
}

bool IsOpenToAll(std::string_view path) { return ServiceOf(path) == "grpc.health.v1.Health"; }

absl::Status CheckRole(const TokenIdentity& identity, std::string_view path) {
  const std::string_view service = ServiceOf(path);
  const std::string_view method = MethodOf(path);
  std::string_view wanted;
  bool may = false;
  if (service.empty() || method.empty()) {
    wanted = "another kind";  // no method of ours
  } else if (service == "warpsmith.v1.WorkerService") {
    wanted = "worker";
    may = identity.role == Role::kWorker;
  } else if (service == "warpsmith.v1.RateSharingService") {
    wanted = "gateway";
    may = identity.role == Role::kGateway;
  } else if (service == "warpsmith.v1.GatewayService" && identity.role == Role::kGateway) {
    may = true;
  } else if (service == "warpsmith.v1.GatewayService" &&
             (method == "ProposeIdeas" || method == "ImplementIdea" || method == "Repair" || method == "Converse")) {
    wanted = "gateway";
  } else if (IsReadOnly(path)) {
    wanted = "viewer or operator";
    may = identity.role == Role::kViewer || identity.role == Role::kOperator;
  } else {
    wanted = "operator";
    may = identity.role == Role::kOperator;
  }
  if (may) return absl::OkStatus();
  return MakeStatus(absl::StatusCode::kPermissionDenied,
                    fmt::format("{} needs a token of role {}; that of {} has role {}", method, wanted, identity.name,
                                RoleName(identity.role)));
}

bool WorkerIdFits(std::string_view worker_id, std::string_view token_name) {
  if (worker_id == token_name) return true;
  if (worker_id.size() < token_name.size() + 2 || worker_id.rfind(token_name, 0) != 0) return false;
  const std::string_view rest = worker_id.substr(token_name.size());
  return rest[0] == '-' && rest.size() <= 5 &&
         std::all_of(rest.begin() + 1, rest.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

absl::StatusOr<std::shared_ptr<AccessControl>> AccessControl::Open(const std::string& file, Duration look_every) {
  std::shared_ptr<AccessControl> access(new AccessControl(file));
  access->seen_ = StateOf(file);
  WARPSMITH_ASSIGN_OR_RETURN(Table table, Load(file));
  access->table_ = std::make_shared<const Table>(std::move(table));
  access->thread_ = std::thread([raw = access.get(), look_every] { raw->Watch(look_every); });
  return access;
}

AccessControl::~AccessControl() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

absl::StatusOr<AccessControl::Table> AccessControl::Load(const std::string& file) {
  const auto text = ReadFile(file, kLargestTokensFile);
  if (!text.ok()) {
    return MakeStatus(
        text.status().code(),
        fmt::format("the tokens file: {}; make its lines with `warpsmith token new`", Message(text.status())));
  }
  struct stat information {};
  if (stat(file.c_str(), &information) == 0 && (information.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return FailedPrecondition(
        fmt::format("the tokens file {} can be changed by others than its owner; chmod 640 {}", file, file));
  }
  Table table;
  std::istringstream lines(*text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (const size_t comment = line.find('#'); comment != std::string::npos) line.resize(comment);
    std::istringstream words(line);
    std::string role_name, hash, name, more;
    words >> role_name >> hash >> name >> more;
    if (role_name.empty()) continue;
    const std::optional<Role> role = ParseRole(role_name);
    if (!role || !IsSha256(hash) || !UsableName(name) || !more.empty()) {
      return InvalidArgument(fmt::format(
          "{}, line {}: must be ROLE SHA256 NAME with a role of viewer, operator, worker, gateway and 64 lowercase "
          "hexadecimal digits; make it with `warpsmith token new`",
          file, number));
    }
    for (const Entry& other : table) {
      if (other.sha256 == hash) {
        return InvalidArgument(fmt::format("{}, line {}: the same token stands there twice", file, number));
      }
      if (*role == Role::kWorker && other.identity.role == Role::kWorker && other.identity.name != name &&
          (WorkerIdFits(name, other.identity.name) || WorkerIdFits(other.identity.name, name))) {
        return InvalidArgument(
            fmt::format("{}, line {}: workers {} and {} could be taken for each other, since {}-N is a GPU of {}; "
                        "give one another name",
                        file, number, other.identity.name, name, std::min(name, other.identity.name),
                        std::min(name, other.identity.name)));
      }
    }
    table.push_back({hash, {*role, name}});
  }
  if (table.empty()) {
    return InvalidArgument(
        fmt::format("{}: there is no token in it, so nobody could connect; make one with `warpsmith token new`", file));
  }
  return table;
}

void AccessControl::Watch(Duration look_every) {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    wake_.wait_for(lock, look_every, [this] { return stopping_; });
    if (stopping_) return;
    lock.unlock();
    const std::string now = StateOf(file_);
    std::shared_ptr<const Table> fresh;
    if (now != seen_) {
      seen_ = now;
      auto table = Load(file_);
      if (table.ok()) {
        spdlog::info("{} tokens were read again from {}", table->size(), file_);
        fresh = std::make_shared<const Table>(std::move(table).value());
      } else {
        spdlog::error("the tokens that were read before stay in use: {}", Message(table.status()));
      }
    }
    lock.lock();
    if (fresh) {
      table_ = std::move(fresh);
      ++generation_;
    }
  }
}

std::optional<TokenIdentity> AccessControl::Find(std::string_view token) const {
  std::shared_ptr<const Table> table;
  {
    std::lock_guard lock(mutex_);
    table = table_;
  }
  const std::string hash = Sha256Hex(token);
  const Entry* found = nullptr;
  for (const Entry& entry : *table) {
    if (CRYPTO_memcmp(entry.sha256.data(), hash.data(), hash.size()) == 0) found = &entry;
  }
  if (found == nullptr) return std::nullopt;
  return found->identity;
}

absl::StatusOr<TokenIdentity> AccessControl::Check(std::string_view authorization, std::string_view path) const {
  if (authorization.empty()) {
    return MakeStatus(absl::StatusCode::kUnauthenticated,
                      "a token is asked for here; give a file that holds one with --token-file or "
                      "WARPSMITH_TOKEN_FILE");
  }
  const bool bearer = authorization.substr(0, kBearer.size()) == kBearer;
  std::optional<TokenIdentity> identity;
  if (bearer) identity = Find(authorization.substr(kBearer.size()));
  if (!identity) {
    return MakeStatus(absl::StatusCode::kUnauthenticated,
                      "the token is not known here; ask for one that is in the server's --tokens file");
  }
  WARPSMITH_RETURN_IF_ERROR(CheckRole(*identity, path));
  return *identity;
}

int64_t AccessControl::generation() const {
  std::lock_guard lock(mutex_);
  return generation_;
}

absl::StatusOr<std::string> TokenFile::Token() {
  std::lock_guard lock(mutex_);
  const std::string now = StateOf(file_);
  if (!token_.empty() && now == seen_) return token_;
  struct stat information {};
  if (stat(file_.c_str(), &information) == 0 && (information.st_mode & (S_IRWXO | S_IWGRP)) != 0) {
    return FailedPrecondition(
        fmt::format("the token file {} can be read by everybody or changed by others; chmod 600 {}", file_, file_));
  }
  auto text = ReadFile(file_, kLargestTokenFile);
  if (!text.ok()) {
    return MakeStatus(text.status().code(), fmt::format("the token file: {}", Message(text.status())));
  }
  while (!text->empty() && std::isspace(static_cast<unsigned char>(text->back())) != 0) text->pop_back();
  if (text->rfind(kTokenStart, 0) != 0 ||
      !std::all_of(text->begin(), text->end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; })) {
    return InvalidArgument(fmt::format(
        "{}: must hold one token, which begins with {}, and nothing else; make one with `warpsmith token new`", file_,
        kTokenStart));
  }
  token_ = std::move(*text);
  seen_ = now;
  return token_;
}

}  // namespace warpsmith

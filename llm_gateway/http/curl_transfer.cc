#include "llm_gateway/http/curl_transfer.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

#include "common/version.h"

namespace warpsmith::gateway {
namespace {

constexpr size_t kMaxHeaderBytes = 256u << 10;
constexpr long kUploadBuffer = 16L << 10;  // the least that libcurl takes; a thousand calls have one each
constexpr long kReceiveBuffer = 8L << 10;  // likewise
constexpr long kProbeIdleSeconds = 30;
constexpr long kProbeIntervalSeconds = 15;
constexpr int kDeadPeerMilliseconds = 75'000;
constexpr long kNoConnectDeadline = 24L * 3600 * 1000;  // libcurl takes 0 for its own five minutes

long Milliseconds(Duration duration) {
  return std::max<long>(1, std::chrono::duration_cast<std::chrono::milliseconds>(duration).count());
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  return text;
}

bool OnOneLine(std::string_view text) { return text.find_first_of(std::string_view("\r\n\0", 3)) == text.npos; }

// A peer that has gone without a word is noticed in about a minute, not only when a deadline of many minutes is over.
int OnSocket(void* /*unused*/, curl_socket_t socket, curlsocktype purpose) {
  if (purpose == CURLSOCKTYPE_IPCXN) {
    setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &kDeadPeerMilliseconds, sizeof kDeadPeerMilliseconds);
  }
  return CURL_SOCKOPT_OK;
}

}  // namespace

CurlTransfer::CurlTransfer(uint64_t id, HttpRequest request, std::shared_ptr<HttpSink> sink, TimePoint now,
                           SpareHandle spare)
    : id_(id), request_(std::move(request)), sink_(std::move(sink)), easy_(spare.easy), started_(now), last_byte_(now) {
  if (!AddHeaders()) {
    if (easy_ != nullptr) curl_easy_cleanup(std::exchange(easy_, nullptr));
    return;
  }
  if (easy_ == nullptr || !Fits(spare)) {
    easy_ == nullptr ? void(easy_ = curl_easy_init()) : curl_easy_reset(easy_);
    if (easy_ != nullptr) Configure();
  }
  if (easy_ == nullptr) {
    unsendable_ = "libcurl could not be set up";
  } else {
    ConfigureThis();
  }
}

CurlTransfer::~CurlTransfer() {
  if (easy_ != nullptr) curl_easy_cleanup(easy_);
  curl_slist_free_all(headers_);
}

// What else it knows of this transfer is set again for the next one.
SpareHandle CurlTransfer::GiveBack() {
  curl_easy_setopt(easy_, CURLOPT_ERRORBUFFER, nullptr);
  curl_easy_setopt(easy_, CURLOPT_HTTPHEADER, nullptr);
  return {std::exchange(easy_, nullptr), std::move(request_.method), std::move(request_.ca_file),
          std::move(request_.proxy), request_.proxy_from_environment};
}

bool CurlTransfer::Fits(const SpareHandle& spare) const {
  return spare.method == "POST" && request_.method == "POST" && spare.ca_file == request_.ca_file &&
         spare.proxy == request_.proxy && spare.proxy_from_environment == request_.proxy_from_environment;
}

CurlTransfer* CurlTransfer::Of(CURL* easy) {
  char* self = nullptr;
  curl_easy_getinfo(easy, CURLINFO_PRIVATE, &self);
  return reinterpret_cast<CurlTransfer*>(self);
}

bool CurlTransfer::AddHeaders() {
  auto add = [this](const std::string& line) {
    curl_slist* longer = curl_slist_append(headers_, line.c_str());
    if (longer != nullptr) headers_ = longer;
    return longer != nullptr;
  };
  for (const auto& [name, value] : request_.headers) {
    if (name.empty() || !OnOneLine(name) || !OnOneLine(value)) {
      unsendable_ = "a header of the request is not one line; look for a line end in the key or the configured headers";
      return false;
    }
    // To libcurl, "Name:" takes a header out and "Name;" sends it empty.
    if (!add(value.empty() ? name + ";" : fmt::format("{}: {}", name, value))) return false;
  }
  return add("Accept-Encoding: identity") && add("Expect:");
}

// What a handle keeps from one transfer to the next that it fits.
void CurlTransfer::Configure() {
  curl_easy_setopt(easy_, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy_, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy_, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(easy_, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
  curl_easy_setopt(easy_, CURLOPT_USERAGENT, (std::string("warpsmith/") + kVersion).c_str());
  curl_easy_setopt(easy_, CURLOPT_HEADERFUNCTION, &HeaderFunction);
  curl_easy_setopt(easy_, CURLOPT_WRITEFUNCTION, &WriteFunction);
  SetRoute();
}

// What is this transfer's own.
void CurlTransfer::ConfigureThis() {
  curl_easy_setopt(easy_, CURLOPT_PRIVATE, this);
  curl_easy_setopt(easy_, CURLOPT_ERRORBUFFER, error_buffer_);
  curl_easy_setopt(easy_, CURLOPT_URL, request_.url.c_str());
  curl_easy_setopt(easy_, CURLOPT_HEADERDATA, this);
  curl_easy_setopt(easy_, CURLOPT_WRITEDATA, this);
  curl_easy_setopt(easy_, CURLOPT_HTTPHEADER, headers_);
  const std::string& body = request_.shared_body != nullptr ? *request_.shared_body : request_.body;
  if (request_.method == "POST" || !body.empty()) {
    curl_easy_setopt(easy_, CURLOPT_POST, 1L);
    curl_easy_setopt(easy_, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
    curl_easy_setopt(easy_, CURLOPT_POSTFIELDS, body.data());  // outlives the transfer
  }
  if (request_.method != "POST" && (request_.method != "GET" || !body.empty())) {
    curl_easy_setopt(easy_, CURLOPT_CUSTOMREQUEST, request_.method.c_str());
  }
  curl_easy_setopt(easy_, CURLOPT_FORBID_REUSE, 0L);
  curl_easy_setopt(easy_, CURLOPT_FRESH_CONNECT, request_.fresh_connection ? 1L : 0L);
  const Duration connect = request_.deadlines.connect;
  curl_easy_setopt(easy_, CURLOPT_CONNECTTIMEOUT_MS, connect.count() > 0 ? Milliseconds(connect) : kNoConnectDeadline);
}

// How the server is reached and known to be the right one.
void CurlTransfer::SetRoute() {
  curl_easy_setopt(easy_, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  curl_easy_setopt(easy_, CURLOPT_SSL_VERIFYPEER, 1L);
  curl_easy_setopt(easy_, CURLOPT_SSL_VERIFYHOST, 2L);
  curl_easy_setopt(easy_, CURLOPT_PROXY_SSL_VERIFYPEER, 1L);
  curl_easy_setopt(easy_, CURLOPT_PROXY_SSL_VERIFYHOST, 2L);
  if (!request_.ca_file.empty()) {
    curl_easy_setopt(easy_, CURLOPT_CAINFO, request_.ca_file.c_str());
    curl_easy_setopt(easy_, CURLOPT_PROXY_CAINFO, request_.ca_file.c_str());
  }
  // The empty string keeps libcurl from reading the proxy variables of the environment.
  if (!request_.proxy.empty() || !request_.proxy_from_environment) {
    curl_easy_setopt(easy_, CURLOPT_PROXY, request_.proxy.c_str());
    if (!request_.proxy.empty()) curl_easy_setopt(easy_, CURLOPT_NOPROXY, "");
  }
  curl_easy_setopt(easy_, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);  // a proxy's answer is not the server's
  curl_easy_setopt(easy_, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
  curl_easy_setopt(easy_, CURLOPT_UPLOAD_BUFFERSIZE, kUploadBuffer);
  curl_easy_setopt(easy_, CURLOPT_BUFFERSIZE, kReceiveBuffer);
  curl_easy_setopt(easy_, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(easy_, CURLOPT_TCP_KEEPIDLE, kProbeIdleSeconds);
  curl_easy_setopt(easy_, CURLOPT_TCP_KEEPINTVL, kProbeIntervalSeconds);
  curl_easy_setopt(easy_, CURLOPT_SOCKOPTFUNCTION, &OnSocket);
}

// Nothing may be thrown through libcurl.
size_t CurlTransfer::HeaderFunction(char* data, size_t size, size_t count, void* self) {
  auto* transfer = static_cast<CurlTransfer*>(self);
  try {
    return transfer->TakeHeader({data, size * count});
  } catch (...) {
    return transfer->Stop(HttpError::kAborted);
  }
}

size_t CurlTransfer::WriteFunction(char* data, size_t size, size_t count, void* self) {
  auto* transfer = static_cast<CurlTransfer*>(self);
  try {
    return transfer->TakeBody({data, size * count});
  } catch (...) {
    return transfer->Stop(HttpError::kAborted);
  }
}

// Returning less than was given makes libcurl end the transfer.
size_t CurlTransfer::Stop(HttpError error) {
  own_stop_ = error;
  GiveUp();
  return 0;
}

void CurlTransfer::GiveUp() { curl_easy_setopt(easy_, CURLOPT_FORBID_REUSE, 1L); }

size_t CurlTransfer::TakeHeader(std::string_view line) {
  header_bytes_ += line.size();
  if (header_bytes_ > kMaxHeaderBytes) {
    return Stop(HttpError::kTooLarge);
  }
  if (has_headers_) return line.size();  // trailers
  std::string_view text = Trim(line);
  if (text.rfind("HTTP/", 0) == 0) {  // a new head: the one before was of an interim answer
    result_.headers.clear();
    result_.status = 0;
    size_t space = text.find(' ');
    if (space != text.npos) std::from_chars(text.data() + space + 1, text.data() + text.size(), result_.status);
  } else if (text.empty()) {
    if (result_.status >= 200 && !TakeHeadersEnd()) return 0;
  } else if (size_t colon = text.find(':'); colon != text.npos) {
    std::string name(text.substr(0, colon));
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    result_.headers.emplace_back(std::move(name), std::string(Trim(text.substr(colon + 1))));
  }
  return line.size();
}

bool CurlTransfer::TakeHeadersEnd() {
  has_headers_ = true;
  long version = 0;
  curl_easy_getinfo(easy_, CURLINFO_HTTP_VERSION, &version);
  result_.http_version = version == CURL_HTTP_VERSION_2_0   ? 20
                         : version == CURL_HTTP_VERSION_1_1 ? 11
                         : version == CURL_HTTP_VERSION_1_0 ? 10
                                                            : 0;
  std::string encoding = FindHeader(result_.headers, "content-encoding");
  if (!encoding.empty() && encoding != "identity") {
    Stop(HttpError::kEncoding);
    return false;
  }
  sink_->OnHeaders(result_.status, result_.headers);
  return true;
}

size_t CurlTransfer::TakeBody(std::string_view data) {
  last_byte_ = RealClock().Now();
  if (!has_body_) {
    has_body_ = true;
    result_.first_byte_seconds = ToSeconds(last_byte_ - started_);
  }
  body_bytes_ += data.size();
  if (body_bytes_ > request_.max_response_bytes) {
    return Stop(HttpError::kTooLarge);
  }
  if (!sink_->OnData(data)) {
    return Stop(HttpError::kAborted);
  }
  return data.size();
}

bool CurlTransfer::Connected() const {
  curl_off_t microseconds = 0;
  curl_easy_getinfo(easy_, CURLINFO_PRETRANSFER_TIME_T, &microseconds);
  return microseconds > 0;
}

std::optional<TimePoint> CurlTransfer::NextCheck(TimePoint now) const {
  std::optional<TimePoint> next;
  auto consider = [&](TimePoint from, Duration deadline) {
    if (deadline.count() > 0 && (!next || from + deadline < *next)) next = from + deadline;
  };
  const HttpDeadlines& limits = request_.deadlines;
  consider(started_, limits.total);
  if (!has_body_) {
    consider(started_, limits.first_byte);
    // A handle that is used again tells of its last transfer until it has begun this one.
    if (now == started_ || !Connected()) consider(started_, limits.connect);
  }
  // The body's first byte comes now at the earliest.
  consider(has_body_ ? last_byte_ : now, limits.idle);
  return next;
}

std::optional<HttpError> CurlTransfer::Overdue(TimePoint now) const {
  auto over = [now](TimePoint from, Duration deadline) { return deadline.count() > 0 && now >= from + deadline; };
  const HttpDeadlines& limits = request_.deadlines;
  if (over(started_, limits.total)) return HttpError::kTotalTimeout;
  if (has_body_) return over(last_byte_, limits.idle) ? std::optional(HttpError::kIdleTimeout) : std::nullopt;
  if (over(started_, limits.first_byte)) return HttpError::kFirstByteTimeout;
  if (over(started_, limits.connect) && !Connected()) return HttpError::kConnectTimeout;
  return std::nullopt;
}

HttpError CurlTransfer::ErrorOf(CURLcode code) const {
  long proxy_status = 0;
  curl_easy_getinfo(easy_, CURLINFO_HTTP_CONNECTCODE, &proxy_status);
  if (code != CURLE_OK && proxy_status >= 300) return HttpError::kConnect;  // the proxy would not
  switch (code) {
    case CURLE_OK:
      return HttpError::kNone;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
    case CURLE_PROXY:
      return HttpError::kConnect;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
      return HttpError::kTls;
    case CURLE_OPERATION_TIMEDOUT:
      return Connected() ? HttpError::kTotalTimeout : HttpError::kConnectTimeout;
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
      return HttpError::kCut;
    case CURLE_OUT_OF_MEMORY:  // what libcurl calls a header line that is longer than its limit
      return has_headers_ ? HttpError::kProtocol : HttpError::kTooLarge;
    default:
      return HttpError::kProtocol;
  }
}

void CurlTransfer::FinishByCurl(CURLcode code) {
  if (own_stop_ != HttpError::kNone) return FinishBy(own_stop_);
  HttpError error = ErrorOf(code);
  if (error == HttpError::kTooLarge) return FinishBy(error);
  std::string detail;
  if (error != HttpError::kNone) detail = error_buffer_[0] != 0 ? error_buffer_ : curl_easy_strerror(code);
  Finish(error, std::move(detail));
}

std::string CurlTransfer::Describe(HttpError error) const {
  const HttpDeadlines& limits = request_.deadlines;
  auto seconds = [](Duration duration) { return fmt::format("{:g} s", ToSeconds(duration)); };
  switch (error) {
    case HttpError::kConnectTimeout:
      return "no connection within " + seconds(limits.connect);
    case HttpError::kFirstByteTimeout:
      return "no answer within " + seconds(limits.first_byte);
    case HttpError::kIdleTimeout:
      return "the answer stalled for " + seconds(limits.idle);
    case HttpError::kTotalTimeout:
      return "the answer had not ended after " + seconds(limits.total);
    case HttpError::kTooLarge:
      return has_headers_ ? fmt::format("the answer is over the cap of {} bytes", request_.max_response_bytes)
                          : fmt::format("the answer's headers are too long; {} bytes are taken", kMaxHeaderBytes);
    case HttpError::kEncoding:
      return "the answer is compressed, which was not asked for";
    case HttpError::kCancelled:
      return "cancelled";
    case HttpError::kProtocol:
      return unsendable_.empty() ? "libcurl could not be set up" : unsendable_;
    default:
      return "stopped";
  }
}

void CurlTransfer::FinishBy(HttpError error) { Finish(error, Describe(error)); }

void CurlTransfer::Finish(HttpError error, std::string detail) {
  result_.error = error;
  result_.message = std::move(detail);
  result_.seconds = ToSeconds(RealClock().Now() - started_);
  sink_->OnDone(result_);
}

}  // namespace warpsmith::gateway

#include "llm_gateway/http/curl_transfer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "common/version.h"

namespace warpsmith::gateway {
namespace {

constexpr size_t kMaxHeaderBytes = 256u << 10;

long Milliseconds(Duration duration) {
  return std::max<long>(1, std::chrono::duration_cast<std::chrono::milliseconds>(duration).count());
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  return text;
}

}  // namespace

CurlTransfer::CurlTransfer(HttpRequest request, std::shared_ptr<HttpSink> sink, TimePoint now)
    : request_(std::move(request)), sink_(std::move(sink)), easy_(curl_easy_init()), started_(now), last_byte_(now) {
  if (easy_ != nullptr) Configure();
}

CurlTransfer::~CurlTransfer() {
  if (easy_ != nullptr) curl_easy_cleanup(easy_);
  curl_slist_free_all(headers_);
}

void CurlTransfer::Configure() {
  curl_easy_setopt(easy_, CURLOPT_PRIVATE, this);
  curl_easy_setopt(easy_, CURLOPT_ERRORBUFFER, error_buffer_);
  curl_easy_setopt(easy_, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy_, CURLOPT_URL, request_.url.c_str());
  curl_easy_setopt(easy_, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy_, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(easy_, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
  curl_easy_setopt(easy_, CURLOPT_SSL_VERIFYPEER, 1L);
  curl_easy_setopt(easy_, CURLOPT_SSL_VERIFYHOST, 2L);
  if (!request_.ca_file.empty()) curl_easy_setopt(easy_, CURLOPT_CAINFO, request_.ca_file.c_str());
  // The empty string keeps libcurl from reading the proxy variables of the environment.
  if (!request_.proxy_from_environment) curl_easy_setopt(easy_, CURLOPT_PROXY, "");
  curl_easy_setopt(easy_, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
  curl_easy_setopt(easy_, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(easy_, CURLOPT_USERAGENT, (std::string("warpsmith/") + kVersion).c_str());
  curl_easy_setopt(easy_, CURLOPT_HEADERFUNCTION, &HeaderFunction);
  curl_easy_setopt(easy_, CURLOPT_HEADERDATA, this);
  curl_easy_setopt(easy_, CURLOPT_WRITEFUNCTION, &WriteFunction);
  curl_easy_setopt(easy_, CURLOPT_WRITEDATA, this);
  curl_easy_setopt(easy_, CURLOPT_CONNECTTIMEOUT_MS,
                   request_.deadlines.connect.count() > 0 ? Milliseconds(request_.deadlines.connect) : 0L);
  if (request_.method == "POST") {
    curl_easy_setopt(easy_, CURLOPT_POST, 1L);
    curl_easy_setopt(easy_, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request_.body.size()));
    curl_easy_setopt(easy_, CURLOPT_POSTFIELDS, request_.body.data());  // outlives the transfer
  } else if (request_.method != "GET") {
    curl_easy_setopt(easy_, CURLOPT_CUSTOMREQUEST, request_.method.c_str());
  }
  for (auto& [name, value] : request_.headers) {
    headers_ = curl_slist_append(headers_, fmt::format("{}: {}", name, value).c_str());
  }
  headers_ = curl_slist_append(headers_, "Accept-Encoding: identity");
  headers_ = curl_slist_append(headers_, "Expect:");
  curl_easy_setopt(easy_, CURLOPT_HTTPHEADER, headers_);
}

size_t CurlTransfer::HeaderFunction(char* data, size_t size, size_t count, void* self) {
  return static_cast<CurlTransfer*>(self)->TakeHeader({data, size * count});
}

size_t CurlTransfer::WriteFunction(char* data, size_t size, size_t count, void* self) {
  return static_cast<CurlTransfer*>(self)->TakeBody({data, size * count});
}

// Returning less than was given makes libcurl end the transfer.
size_t CurlTransfer::TakeHeader(std::string_view line) {
  header_bytes_ += line.size();
  if (header_bytes_ > kMaxHeaderBytes) {
    own_stop_ = HttpError::kTooLarge;
    return 0;
  }
  std::string_view text = Trim(line);
  if (text.rfind("HTTP/", 0) == 0) {  // a new head: the one before was of an interim answer or a proxy's
    result_.headers.clear();
    result_.status = 0;
    size_t space = text.find(' ');
    if (space != text.npos) std::from_chars(text.data() + space + 1, text.data() + text.size(), result_.status);
  } else if (text.empty()) {
    if (result_.status >= 200) {
      std::string encoding = FindHeader(result_.headers, "content-encoding");
      if (!encoding.empty() && encoding != "identity") {
        own_stop_ = HttpError::kEncoding;
        return 0;
      }
      sink_->OnHeaders(result_.status, result_.headers);
    }
  } else if (size_t colon = text.find(':'); colon != text.npos) {
    std::string name(text.substr(0, colon));
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    result_.headers.emplace_back(std::move(name), std::string(Trim(text.substr(colon + 1))));
  }
  return line.size();
}

size_t CurlTransfer::TakeBody(std::string_view data) {
  last_byte_ = RealClock().Now();
  if (!has_body_) {
    has_body_ = true;
    result_.first_byte_seconds = ToSeconds(last_byte_ - started_);
  }
  body_bytes_ += data.size();
  if (body_bytes_ > request_.max_response_bytes) {
    own_stop_ = HttpError::kTooLarge;
    return 0;
  }
  if (!sink_->OnData(data)) {
    own_stop_ = HttpError::kAborted;
    return 0;
  }
  return data.size();
}

bool CurlTransfer::Connected() const {
  curl_off_t microseconds = 0;
  curl_easy_getinfo(easy_, CURLINFO_PRETRANSFER_TIME_T, &microseconds);
  return microseconds > 0;
}

std::optional<TimePoint> CurlTransfer::NextDeadline() const {
  std::optional<TimePoint> next;
  auto consider = [&](TimePoint from, Duration deadline) {
    if (deadline.count() > 0 && (!next || from + deadline < *next)) next = from + deadline;
  };
  consider(started_, request_.deadlines.total);
  if (has_body_) {
    consider(last_byte_, request_.deadlines.idle);
  } else {
    consider(started_, request_.deadlines.first_byte);
  }
  return next;
}

std::optional<HttpError> CurlTransfer::Overdue(TimePoint now) const {
  auto over = [now](TimePoint from, Duration deadline) { return deadline.count() > 0 && now >= from + deadline; };
  if (over(started_, request_.deadlines.total)) return HttpError::kTotalTimeout;
  if (has_body_ && over(last_byte_, request_.deadlines.idle)) return HttpError::kIdleTimeout;
  if (!has_body_ && over(started_, request_.deadlines.first_byte)) return HttpError::kFirstByteTimeout;
  return std::nullopt;
}

HttpError CurlTransfer::ErrorOf(CURLcode code) const {
  switch (code) {
    case CURLE_OK:
      return HttpError::kNone;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
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
    default:
      return HttpError::kProtocol;
  }
}

void CurlTransfer::FinishByCurl(CURLcode code) {
  if (own_stop_ != HttpError::kNone) return FinishBy(own_stop_);
  HttpError error = ErrorOf(code);
  std::string detail;
  if (error != HttpError::kNone) detail = error_buffer_[0] != 0 ? error_buffer_ : curl_easy_strerror(code);
  Finish(error, std::move(detail));
}

void CurlTransfer::FinishBy(HttpError error) {
  const HttpDeadlines& limits = request_.deadlines;
  auto seconds = [](Duration duration) { return fmt::format("{:g} s", ToSeconds(duration)); };
  std::string detail;
  switch (error) {
    case HttpError::kFirstByteTimeout:
      detail = "no answer within " + seconds(limits.first_byte);
      break;
    case HttpError::kIdleTimeout:
      detail = "the answer stalled for " + seconds(limits.idle);
      break;
    case HttpError::kTotalTimeout:
      detail = "the answer had not ended after " + seconds(limits.total);
      break;
    case HttpError::kTooLarge:
      detail = fmt::format("the answer is over the cap of {} bytes", request_.max_response_bytes);
      break;
    case HttpError::kEncoding:
      detail = "the answer is compressed, which was not asked for";
      break;
    case HttpError::kCancelled:
      detail = "cancelled";
      break;
    case HttpError::kProtocol:
      detail = "libcurl could not be set up";
      break;
    default:
      detail = "stopped";
  }
  Finish(error, std::move(detail));
}

void CurlTransfer::Finish(HttpError error, std::string detail) {
  result_.error = error;
  result_.message = std::move(detail);
  result_.seconds = ToSeconds(RealClock().Now() - started_);
  sink_->OnDone(result_);
}

}  // namespace warpsmith::gateway

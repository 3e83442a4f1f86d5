#include "tests/llm_gateway/http/misbehaving_server.h"

#include <stdexcept>
#include <vector>

#include "common/hash.h"
#include "common/run_child.h"

namespace warpsmith::gateway {

Answer Send(HttpTransport& transport, HttpRequest request, Cancellation* cancellation) {
  Cancellation own;
  Answer answer;
  if (request.deadlines.total.count() == 0) request.deadlines.total = std::chrono::seconds(30);
  answer.result = SendAndWait(
      transport, std::move(request), [&](int, const HttpHeaders&) { ++answer.headers_told; },
      [&](std::string_view data) { return answer.body.append(data), true; },
      cancellation != nullptr ? *cancellation : own);
  return answer;
}

MisbehavingServer::MisbehavingServer() : folder_(TemporaryDirectory::Create("misbehaving").value()) {
  MakeCertificates();
  std::string port_file = folder_.path() / "ports.json";
  ChildOptions options;
  options.arguments = {"/usr/bin/python3", WARPSMITH_SOURCE_DIR "/tests/llm_gateway/http/misbehaving_server.py",
                       "--port-file",      port_file,
                       "--certificates",   folder_.path()};
  options.stderr_to_parent = true;
  child_ = ChildProcess::Start(options).value();
  for (int i = 0; i < 1500 && ports_.is_null() && child_->Running(); ++i) {
    auto text = ReadFile(port_file);
    if (text.ok()) ports_ = Json::parse(*text);
    RealClock().SleepFor(std::chrono::milliseconds(20));
  }
  if (ports_.is_null()) throw std::runtime_error("the misbehaving server did not start");
}

void MisbehavingServer::MakeCertificates() const {
  auto openssl = [this](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "openssl");
    ChildOptions options;
    options.arguments = std::move(arguments);
    options.working_directory = folder_.path();
    options.merge_stderr = true;
    auto exit = RunChild(options, "", std::chrono::seconds(60));
    if (!exit.ok()) throw std::runtime_error("openssl: " + Message(exit.status()));
    if (exit->exit_code != 0) throw std::runtime_error("openssl: " + exit->standard_output);
  };
  const std::string ours = "subjectAltName=IP:127.0.0.1,DNS:localhost";
  auto signed_by_authority = [&](const std::string& name, const std::string& names, const std::string& days) {
    if (!WriteFileAtomically(folder_.path() / (name + ".ext"), names + "\n").ok()) throw std::runtime_error(name);
    openssl({"x509", "-req", "-in", "request.pem", "-CA", "ca.pem", "-CAkey", "ca_key.pem", "-set_serial",
             "0x" + RandomHex(8), "-days", days, "-extfile", name + ".ext", "-out", name + ".pem"});
  };
  for (const char* key : {"ca_key.pem", "key.pem"}) {
    openssl({"ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", key});
  }
  openssl(
      {"req", "-x509", "-new", "-key", "ca_key.pem", "-subj", "/CN=test authority", "-days", "2", "-out", "ca.pem"});
  openssl({"req", "-new", "-key", "key.pem", "-subj", "/CN=fake", "-out", "request.pem"});
  signed_by_authority("good", ours, "2");
  signed_by_authority("expired", ours, "-1");
  signed_by_authority("wrong_host", "subjectAltName=DNS:other.example", "2");
  openssl({"req", "-x509", "-new", "-key", "key.pem", "-subj", "/CN=127.0.0.1", "-addext", ours, "-days", "2", "-out",
           "self_signed.pem"});
}

HttpRequest MisbehavingServer::Request(const std::string& listener, const std::string& behaviour) const {
  HttpRequest request;
  const bool plain = listener == "plain";
  request.url = (plain ? "http://127.0.0.1:" : "https://127.0.0.1:") + Port(listener) + "/" + behaviour;
  request.body = behaviour + "\n";
  if (!plain) request.ca_file = Authority();
  return request;
}

int MisbehavingServer::Seen(const std::string& what, const std::string& key) const {
  CurlTransport transport;
  HttpRequest request = Request("plain", "_log");
  request.method = "GET";
  request.body.clear();
  Answer answer = Send(transport, request);
  if (answer.result.error != HttpError::kNone) throw std::runtime_error("the server's log: " + answer.result.message);
  return Json::parse(answer.body)[what].value(key, 0);
}

bool MisbehavingServer::WaitSeen(const std::string& what, const std::string& key, int least) const {
  for (int i = 0; i < 200; ++i) {
    if (Seen(what, key) >= least) return true;
    RealClock().SleepFor(std::chrono::milliseconds(50));
  }
  return false;
}

}  // namespace warpsmith::gateway

#include "tests/llm_gateway/support/fake_model_server.h"

#include <stdexcept>

#include "common/clock.h"
#include "llm_gateway/http/curl_transport.h"

namespace warpsmith::gateway {

FakeModelServer::FakeModelServer(const Json& scenarios, const std::vector<std::string>& more_arguments,
                                 const std::string& script)
    : folder_(TemporaryDirectory::Create("fake-model").value()) {
  std::string scenario_file = folder_.path() / "scenarios.json", port_file = folder_.path() / "port";
  if (!WriteFileAtomically(scenario_file, scenarios.dump()).ok())
    throw std::runtime_error("cannot write the scenarios");
  ChildOptions options;
  options.arguments = {"/usr/bin/python3", WARPSMITH_SOURCE_DIR "/" + script, "--port-file", port_file, "--script",
                       scenario_file};
  options.arguments.insert(options.arguments.end(), more_arguments.begin(), more_arguments.end());
  options.stderr_to_parent = true;
  child_ = ChildProcess::Start(options).value();
  for (int i = 0; i < 1500 && port_ == 0; ++i) {
    auto text = ReadFile(port_file);
    if (text.ok()) port_ = std::stoi(*text);
    if (!child_->Running()) break;
    RealClock().SleepFor(std::chrono::milliseconds(20));
  }
  if (port_ == 0) throw std::runtime_error("the fake model server did not start");
}

std::string FakeModelServer::BaseUrl(const std::string& scenario, const std::string& version) const {
  return "http://127.0.0.1:" + std::to_string(port_) + "/" + scenario + "/" + version;
}

Json FakeModelServer::Requests() const {
  CurlTransport transport;
  Cancellation cancellation;
  HttpRequest request;
  request.method = "GET";
  request.url = "http://127.0.0.1:" + std::to_string(port_) + "/_requests";
  request.deadlines.total = std::chrono::seconds(20);
  std::string body;
  HttpResult result = SendAndWait(
      transport, request, [](int, const HttpHeaders&) {},
      [&](std::string_view data) { return body.append(data), true; }, cancellation);
  if (result.error != HttpError::kNone) throw std::runtime_error("the fake model server: " + result.message);
  return Json::parse(body);
}

Json FakeModelServer::RequestsOf(const std::string& scenario) const {
  Json found = Json::array();
  for (const Json& request : Requests()) {
    if (request["scenario"] == scenario) found.push_back(request);
  }
  return found;
}

}  // namespace warpsmith::gateway

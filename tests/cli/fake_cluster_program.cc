// Stands for warpsmith-gateway, -coordinator and -worker in tests of the embedded cluster, by the name that it is
// called by. The coordinator answers from tests/cli/fake_operator_service; nothing is searched. FAKE_REPORT_DIR: a file
// a process with its arguments and whether it was given a key. FAKE_ENDING: kernel, never. FAKE_FAILS: the name of the
// program that is to end at once. FAKE_DIES_ONCE: of the one that ends after its first start.
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

#include "common/grpc_channel.h"
#include "common/shutdown.h"
#include "tests/cli/fake_operator_service.h"

namespace {

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::string Option(int argc, char** argv, const std::string& name) {
  for (int i = 1; i + 1 < argc; ++i) {
    if (name == argv[i]) return argv[i + 1];
  }
  return "";
}

}  // namespace

int main(int argc, char** argv) {
  using warpsmith::cli::FakeOperatorService;
  warpsmith::BlockSignals();
  const std::filesystem::path program = std::filesystem::path(argv[0]).filename();
  if (const std::string folder = Variable("FAKE_REPORT_DIR"); !folder.empty()) {
    std::ofstream report(std::filesystem::path(folder) / program, std::ios::app);
    report << (Variable("FAKE_API_KEY").empty() ? "no key" : "key");
    for (int i = 1; i < argc; ++i) report << ' ' << argv[i];
    report << '\n';
  }
  std::cerr << program.string() << " started" << std::endl;
  if (Variable("FAKE_FAILS") == program) {
    std::cerr << "cannot work: the moon is in the way" << std::endl;
    return 3;
  }
  if (Variable("FAKE_DIES_ONCE") == program) {
    const std::filesystem::path mark =
        std::filesystem::path(Variable("FAKE_REPORT_DIR")) / (program.string() + ".died");
    if (!std::filesystem::exists(mark)) {
      usleep(1'500'000);
      std::ofstream(mark) << "once";
      return 4;
    }
  }
  // The fake coordinator tells of a worker at once, so it waits for there to be one.
  const std::filesystem::path worker = std::filesystem::path(Variable("FAKE_REPORT_DIR")) / "warpsmith-worker";
  for (int i = 0; program == "warpsmith-coordinator" && i < 1000 && !std::filesystem::exists(worker); ++i)
    usleep(10'000);
  FakeOperatorService service(Variable("FAKE_ENDING") == "never" ? FakeOperatorService::Ending::kNever
                                                                 : FakeOperatorService::Ending::kKernel);
  warpsmith::RunningServer running;
  if (const std::string address = Option(argc, argv, "--listen"); !address.empty()) {
    auto started = warpsmith::StartServer(address, {&service});
    if (!started.ok()) {
      std::cerr << warpsmith::Message(started.status()) << std::endl;
      return 1;
    }
    running = std::move(started).value();
  }
  warpsmith::WaitForSignal();
  if (running.server) warpsmith::StopServer(*running.server, 0);
  return 0;
}

#include <unistd.h>

#include <iostream>

#include "cli/command_line.h"
#include "cli/interrupt.h"
#include "cli/local_evaluation.h"
#include "cli/local_host_code.h"
#include "common/grpc_runtime.h"
#include "common/log.h"

int main(int argc, char** argv) {
  warpsmith::InitLogging("warpsmith");
  warpsmith::InitGrpcRuntime();
  warpsmith::cli::InstallInterrupt();
  warpsmith::cli::Context context{std::cout,
                                  std::cerr,
                                  isatty(STDOUT_FILENO) != 0,
                                  isatty(STDERR_FILENO) != 0,
                                  warpsmith::cli::OpenLocalSession,
                                  warpsmith::cli::OpenHostCodeSession};
  return warpsmith::cli::RunCommandLine({argv + 1, argv + argc}, context);
}

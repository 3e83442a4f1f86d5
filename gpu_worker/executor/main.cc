// warpsmith-executor [--cuda [--open-files] [--library-folder=FOLDER]...]: one candidate's process, started by a
// worker.
#include <cstdio>
#include <string_view>

#include "gpu_worker/executor/child.h"
#include "gpu_worker/executor/cuda/job.h"
#include "gpu_worker/executor/emulated/job.h"

int main(int count, char** arguments) {
  using warpsmith::executor::ChildJob;
  bool cuda = false;
  warpsmith::executor::CudaJobOptions options;
  for (int i = 1; i < count; ++i) {
    std::string_view argument = arguments[i];
    constexpr std::string_view kLibraryFolder = "--library-folder=";
    if (argument == "--cuda") {
      cuda = true;
    } else if (argument == "--open-files") {
      options.restrict_files = false;
    } else if (argument.starts_with(kLibraryFolder)) {
      options.library_folders.emplace_back(argument.substr(kLibraryFolder.size()));
    } else {
      std::fprintf(stderr, "warpsmith-executor is started by warpsmith-worker and knows no argument %s\n",
                   arguments[i]);
      return 2;
    }
  }
  ChildJob* job = (cuda ? warpsmith::executor::MakeCudaJob(options) : warpsmith::executor::MakeEmulatedJob()).release();
  return RunChildProcess(*job);
}

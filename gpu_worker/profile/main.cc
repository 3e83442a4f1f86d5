// warpsmith-profiler [--open-files]: profiles one candidate; started by a worker.
#include <cstdio>
#include <string_view>

#include "gpu_worker/profile/child.h"

int main(int count, char** arguments) {
  warpsmith::profile::ChildSettings settings;
  for (int i = 1; i < count; ++i) {
    if (std::string_view(arguments[i]) == "--open-files") {
      settings.restrict_files = false;
    } else {
      std::fprintf(stderr, "warpsmith-profiler is started by warpsmith-worker and knows no argument %s\n",
                   arguments[i]);
      return 2;
    }
  }
  return warpsmith::profile::RunChildProcess(settings);
}

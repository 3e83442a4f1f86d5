#include "cli/cluster_commands.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <ostream>

#include "cli/embedded/cluster.h"
#include "cli/embedded/data_directory.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "cli/message_json.h"
#include "cli/names.h"
#include "cli/print_search.h"
#include "cli/text.h"
#include "common/json.h"

namespace warpsmith::cli {
namespace {

// A coordinator to work with, and the cluster behind it where it is ours.
struct Backend {
  std::string address;
  std::optional<DataDirectoryLock> lock;  // outlives the cluster
  std::unique_ptr<Cluster> cluster;
};

absl::StatusOr<Backend> StartOrFind(Context& context, const DataDirectory& directory, const std::string& purpose,
                                    const LocalOptions& local, bool stays) {
  Backend backend;
  WARPSMITH_RETURN_IF_ERROR(directory.Prepare());
  WARPSMITH_ASSIGN_OR_RETURN(DataDirectoryLock lock, DataDirectoryLock::Take(directory, purpose));
  if (auto running = FindRunningCluster(directory)) {
    // Nobody holds the lock, so it is one that `up` left: it is used, and neither stopped nor locked.
    backend.address = *running;
    return backend;
  }
  ClusterOptions options;
  options.device = local.device;
  options.workers = local.workers;
  options.gateway_config = local.gateway_config;
  options.stays = stays;
  options.say = [&context](const std::string& line) {
    if (!context.json) context.err << Line(line) << std::endl;
  };
  options.interrupted = Interrupted;
  WARPSMITH_ASSIGN_OR_RETURN(backend.cluster, Cluster::Start(directory, options));
  backend.lock.emplace(std::move(lock));
  backend.address = backend.cluster->address();
  return backend;
}

void PrintRun(Context& context, const v1::Search& search, const std::string& winner) {
  if (context.json) {
    context.out << "{\"search\": " << MessageToJson(search) << ",\n\"winner_file\": " << Json(winner).dump() << "}\n";
  } else {
    context.out << ReportText(search, winner);
  }
  context.out.flush();
}

// Submits, follows and reports.
int Search(Context& context, const RunOptions& options, const v1::SubmitSearchRequest& request, Backend& backend,
           const std::filesystem::path& kernels) {
  OperatorClient client(backend.address);
  auto submitted = client.SubmitSearch(request);
  if (!submitted.ok()) return Fail(context, submitted.status());
  const std::string& id = submitted->search_id();
  const std::string short_id = ShortId(id);
  if (!context.json) context.err << fmt::format("{}: search {}", Line(request.name()), short_id) << std::endl;

  auto search = WatchWithProgress(context, client, id, [&]() -> absl::Status {
    if (Interrupted()) return Cancelled("interrupted");
    return backend.cluster ? backend.cluster->Tend() : absl::OkStatus();
  });
  if (!search.ok() && search.status().code() == absl::StatusCode::kCancelled && Interrupted()) {
    ClearInterrupt();
    if (backend.cluster && !options.keep_running) {
      // Nothing of it shall go on behind the operator's back, nor start again with the next run.
      const auto cancelled = client.CancelSearch(id);
      if (cancelled.ok()) PrintRun(context, *cancelled, "");
      context.err << "warpsmith: interrupted; the search was cancelled" << std::endl;
    } else {
      context.err << fmt::format(
                         "warpsmith: interrupted; the search goes on: warpsmith watch {}, or warpsmith cancel {}",
                         short_id, short_id)
                  << std::endl;
    }
    return kExitInterrupted;
  }
  if (!search.ok()) return Fail(context, search.status());
  std::string file = options.output;
  if (file.empty()) file = (kernels / fmt::format("{}-{}.cu", Line(request.name()), short_id)).string();
  auto winner = WriteWinner(client, *search, file);
  PrintRun(context, *search, winner.ok() ? *winner : "");
  if (!winner.ok()) return Fail(context, winner.status());
  return SearchExitCode(*search);
}

}  // namespace

int RunRun(Context& context, const RunOptions& options) {
  auto request = MakeSubmission(options.file, options.search);
  if (!request.ok()) return Fail(context, request.status());
  if (Backend remote{GivenCoordinatorAddress(context), std::nullopt, nullptr}; !remote.address.empty()) {
    return Search(context, options, *request, remote, std::filesystem::current_path());
  }

  auto path = DataDirectoryPath(context.data_directory);
  if (!path.ok()) return Fail(context, path.status());
  const DataDirectory directory(*path);
  auto started = StartOrFind(context, directory, "warpsmith run", options.local, options.keep_running);
  if (!started.ok()) return Fail(context, started.status());
  Backend& backend = *started;
  const int code = Search(context, options, *request, backend, directory.kernels());
  if (backend.cluster && options.keep_running) {
    backend.cluster->LeaveRunning();
    if (!context.json) {
      context.err << fmt::format("the cluster goes on at {}; stop it with `warpsmith down{}`", backend.address,
                                 context.data_directory.empty() ? "" : " --data-dir " + path->string())
                  << std::endl;
    }
  } else if (backend.cluster) {
    if (!context.json) context.err << "stopping the cluster" << std::endl;
    backend.cluster->Stop();
  }
  return code;
}

int RunUp(Context& context, const LocalOptions& options) {
  auto path = DataDirectoryPath(context.data_directory);
  if (!path.ok()) return Fail(context, path.status());
  const DataDirectory directory(*path);
  auto backend = StartOrFind(context, directory, "warpsmith up", options, /*stays=*/true);
  if (!backend.ok()) return Fail(context, backend.status());
  const bool fresh = backend->cluster != nullptr;
  if (fresh) backend->cluster->LeaveRunning();
  if (context.json) {
    context.out << Json({{"coordinator", backend->address}, {"data_dir", path->string()}, {"started", fresh}}).dump()
                << std::endl;
  } else {
    context.out << fmt::format(
                       "{} at {}\nuse it: warpsmith run FILE.py, or from elsewhere --coordinator {}\nstop it: "
                       "warpsmith down{}\n",
                       fresh ? "up" : "already up", backend->address, backend->address,
                       context.data_directory.empty() ? "" : " --data-dir " + path->string())
                << std::flush;
  }
  return kExitOk;
}

int RunDown(Context& context) {
  auto path = DataDirectoryPath(context.data_directory);
  if (!path.ok()) return Fail(context, path.status());
  const DataDirectory directory(*path);
  std::vector<std::string> stopped;
  if (std::filesystem::exists(directory.run_folder())) {
    auto lock = DataDirectoryLock::Take(directory, "warpsmith down");
    if (!lock.ok()) return Fail(context, lock.status());
    auto result = StopRecorded(directory);
    if (!result.ok()) return Fail(context, result.status());
    stopped = std::move(result).value();
  }
  if (context.json) {
    context.out << Json({{"stopped", stopped}, {"data_dir", path->string()}}).dump() << std::endl;
  } else if (stopped.empty()) {
    context.out << fmt::format("nothing of {} was running\n", path->string()) << std::flush;
  } else {
    context.out << fmt::format("stopped {}\n", fmt::join(stopped, ", ")) << std::flush;
  }
  return kExitOk;
}

}  // namespace warpsmith::cli

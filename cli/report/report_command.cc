#include "cli/report/report_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <memory>
#include <ostream>

#include "cli/batch_client.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "cli/message_json.h"
#include "cli/operator_client.h"
#include "cli/report/batch_figures.h"
#include "cli/report/batch_page.h"
#include "cli/report/figures.h"
#include "cli/report/report_client.h"
#include "cli/report/search_page.h"
#include "cli/search_commands.h"
#include "cli/text.h"
#include "common/clock.h"
#include "common/file.h"
#include "common/version.h"

namespace warpsmith::cli {
namespace {

absl::Status PollReport() { return Interrupted() ? Cancelled("interrupted; no report was written") : absl::OkStatus(); }

// What `given` names: one of the two is filled in.
struct ReportSubject {
  std::string search_id;
  std::string batch_id;
};

absl::StatusOr<ReportSubject> FindSubject(const std::string& address, const std::string& given) {
  OperatorClient searches(address);
  if (given.empty()) {
    v1::ListSearchesRequest latest;
    latest.set_limit(1);
    WARPSMITH_ASSIGN_OR_RETURN(const v1::ListSearchesReply reply, searches.ListSearches(latest));
    if (reply.searches_size() > 0) return ReportSubject{reply.searches(0).id(), ""};
    return NotFound("there are no searches yet; start one with `warpsmith submit FILE.py`");
  }
  const auto search = searches.GetSearch(given);
  if (!search.ok() && search.status().code() != absl::StatusCode::kNotFound) return search.status();
  if (search.ok() && search->id() == given) return ReportSubject{given, ""};
  BatchClient batches(address);
  const auto batch = batches.Get(given);
  if (!batch.ok() && batch.status().code() != absl::StatusCode::kNotFound) return batch.status();
  if (search.ok() && batch.ok() && batch->id() != given) {
    return InvalidArgument(fmt::format("{} begins the ids of search {} and of batch {}; give more of the one meant",
                                       given, search->id(), batch->id()));
  }
  if (batch.ok()) return ReportSubject{"", batch->id()};
  if (search.ok()) return ReportSubject{search->id(), ""};
  return NotFound(fmt::format(
      "no search and no batch has the id {}; `warpsmith list` and `warpsmith batch list` show the ids", Line(given)));
}

absl::StatusOr<v1::BatchReport> ReadBatchReport(Context& context, const std::string& address,
                                                const std::string& batch_id) {
  v1::BatchReport data;
  BatchClient batches(address);
  WARPSMITH_ASSIGN_OR_RETURN(*data.mutable_batch(), batches.Get(batch_id));
  report::ReportClient client(address);
  int read = 0;
  for (const v1::BatchProblem& problem : data.batch().problems()) {
    WARPSMITH_RETURN_IF_ERROR(PollReport());
    if (context.err_is_terminal) {
      context.err << fmt::format("\rreading {} of {} searches\x1b[K", ++read, data.batch().problems_size())
                  << std::flush;
    }
    auto search = client.Get(problem.search_id(), true, PollReport);
    if (context.err_is_terminal) context.err << "\r\x1b[K" << std::flush;
    if (!search.ok()) return Annotate(search.status(), "problem " + Line(problem.name()));
    *data.add_searches() = *std::move(search);
  }
  data.set_written_at_us(RealClock().WallMicros());
  data.set_version(kVersion);
  return data;
}

absl::StatusOr<v1::SearchReport> ReadSearchReport(const std::string& address, const std::string& search_id) {
  report::ReportClient client(address);
  WARPSMITH_ASSIGN_OR_RETURN(v1::SearchReport data, client.Get(search_id, false, PollReport));
  data.set_written_at_us(RealClock().WallMicros());
  data.set_version(kVersion);
  return data;
}

// In a folder a page is named by the whole id, as links of dashboards have it.
std::string PageFile(const std::string& output, const std::string& id) {
  if (output.empty()) return fmt::format("warpsmith-{}.html", ShortId(id));
  std::error_code error;
  if (output.back() != '/' && !std::filesystem::is_directory(output, error)) return output;
  return (std::filesystem::path(output) / (id + ".html")).string();
}

// The page goes to a file unless JSON alone was asked for.
int WriteReport(Context& context, const ReportOptions& options, const google::protobuf::Message& data,
                const std::string& id, const std::string& verdict, const std::function<std::string()>& page) {
  if (context.json) context.out << MessageToJson(data) << std::endl;
  if (context.json && options.output.empty()) return kExitOk;
  const std::string file = PageFile(options.output, id);
  const std::string html = page();
  if (const absl::Status written = WriteFileAtomically(file, html); !written.ok()) return Fail(context, written);
  if (!context.json) {
    context.out << fmt::format("{}\nwrote {} ({:.1f} kB)\n", Wrap(verdict, kPageWidth, ""), Line(file),
                               static_cast<double>(html.size()) / 1e3);
    context.out.flush();
  }
  return kExitOk;
}

}  // namespace

int RunReport(Context& context, const ReportOptions& options) {
  const auto address = CoordinatorAddress(context);
  if (!address.ok()) return Fail(context, address.status());
  const auto subject = FindSubject(*address, options.id);
  if (!subject.ok()) return Fail(context, subject.status());
  if (subject->batch_id.empty()) {
    const auto data = ReadSearchReport(*address, subject->search_id);
    if (!data.ok()) return Fail(context, data.status());
    return WriteReport(context, options, *data, subject->search_id, report::Verdict(report::SearchFigures(*data)),
                       [&] { return report::SearchPage(*data); });
  }
  const auto data = ReadBatchReport(context, *address, subject->batch_id);
  if (!data.ok()) return Fail(context, data.status());
  return WriteReport(context, options, *data, subject->batch_id, report::BatchVerdict(report::BatchFigures(*data)),
                     [&] { return report::BatchPage(*data); });
}

void AddReportCommand(CLI::App* app, Context& context, const MakeClientCommand& make, const SetCommandAction& does) {
  const auto options = std::make_shared<ReportOptions>();
  CLI::App* command = make(app, "report", "a search or a batch as one HTML page that needs no network",
                           "warpsmith report 3f2a91c0 -o report.html");
  command->add_option("ID", options->id, "its id, or the first 6 characters or more; default the latest search")
      ->type_name("SEARCH|BATCH");
  command
      ->add_option("-o,--output", options->output,
                   "default warpsmith-ID.html; in a folder ID.html with the whole id; with --json none unless given")
      ->type_name("FILE|FOLDER");
  does(command, [options, &context] { return RunReport(context, *options); });
}

}  // namespace warpsmith::cli

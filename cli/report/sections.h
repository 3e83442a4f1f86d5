// The parts of a search's page, each from figures that were worked out before.
// Threading: pure.
#ifndef WARPSMITH_CLI_REPORT_SECTIONS_H_
#define WARPSMITH_CLI_REPORT_SECTIONS_H_

#include <set>
#include <string>
#include <string_view>

#include "cli/report/figures.h"
#include "cli/report/html.h"
#include "cli/report/limits.h"

namespace warpsmith::cli::report {

// A heading that the page's list of contents links to, and what stands under it.
Html Section(std::string_view id, std::string_view title, const Html& content);
Html Paragraph(std::string_view text, std::string_view classes = "");
// A fold, closed unless `open`.
Html Fold(const Html& summary, const Html& content, bool open = false, std::string_view classes = "");
Html Fold(std::string_view summary, const Html& content, bool open = false);
// One figure of the header: a name, a value, a remark.
Html Tile(std::string_view name, std::string_view value, std::string_view remark = "");
// "EMULATED", with what it means.
Html EmulatedBadge();

Html Tiles(const SearchFigures& figures);
Html MetaLine(const SearchFigures& figures);
Html RoundsTable(const SearchFigures& figures);
Html BaselinesTable(const SearchFigures& figures);
Html Funnel(const SearchFigures& figures);

// Every candidate is an anchor by its id, but for those of `anchored`, which stand elsewhere on the page.
Html CandidateTree(const SearchFigures& figures, const ReportLimits& limits, const std::set<std::string>& anchored);
Html CategoriesTable(const SearchFigures& figures);
Html IdeasTables(const SearchFigures& figures, const ReportLimits& limits);

// How each kernel of the winning line came about.
Html LineageTable(const SearchFigures& figures);
// Its sources with what each changed, the best first. Takes what it shows off `bytes_left`. With `anchored`, each shown
// source is an anchor by its candidate's id, which is added there.
Html Sources(const SearchFigures& figures, const ReportLimits& limits, size_t* bytes_left,
             std::set<std::string>* anchored = nullptr);
// A source in a box; cut at the limit, which is told.
Html SourceBox(std::string_view source, const ReportLimits& limits);
Html DiffBox(std::string_view before, std::string_view after, const ReportLimits& limits);
// What the best kernel was tried on.
Html TrialsTable(const SearchFigures& figures);

// Under the plot: counters by kernel; or why there are none.
Html Profiles(const SearchFigures& figures);
Html FailuresTable(const SearchFigures& figures, const ReportLimits& limits);
Html Costs(const SearchFigures& figures);

}  // namespace warpsmith::cli::report

#endif  // WARPSMITH_CLI_REPORT_SECTIONS_H_

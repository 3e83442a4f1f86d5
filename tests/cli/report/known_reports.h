// Reports of which every figure is known: made here, not measured.
// Threading: pure.
#ifndef WARPSMITH_TESTS_CLI_REPORT_KNOWN_REPORTS_H_
#define WARPSMITH_TESTS_CLI_REPORT_KNOWN_REPORTS_H_

#include "warpsmith/v1/report.pb.h"

namespace warpsmith::testing {

// Three rounds on a GPU, ended: eager 1.5 ms, torch.compile 0.9 ms, a library call of 0.75 ms; best 0.5 ms, confirmed
// and profiled; one failure of each kind.
v1::SearchReport KnownSearch();
// The same with markup, bidi controls and broken UTF-8 wherever a model, a compiler or an operator writes.
v1::SearchReport HostileSearch();
// Submitted a moment ago.
v1::SearchReport EmptySearch();
// Ended at intake.
v1::SearchReport FailedSearch();
// Of so many candidates, three an idea, in ten rounds, on the emulated device.
v1::SearchReport LargeSearch(int candidates);
// Twelve problems: nine solved, one failed, one under way, one without a kernel.
v1::BatchReport KnownBatch();

}  // namespace warpsmith::testing

#endif  // WARPSMITH_TESTS_CLI_REPORT_KNOWN_REPORTS_H_

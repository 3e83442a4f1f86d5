// A cluster whose coordinator shows its metrics. Threading: one thread.
#ifndef WARPSMITH_TESTS_COORDINATOR_METRICS_SHOWN_CLUSTER_H_
#define WARPSMITH_TESTS_COORDINATOR_METRICS_SHOWN_CLUSTER_H_

#include <set>
#include <string>

#include "tests/coordinator/cluster_fixture.h"
#include "tests/support/metrics_page.h"

namespace warpsmith::testing {

class ShownCluster : public Cluster {
 public:
  ShownCluster() {
    StopCoordinator();
    options.metrics = {"127.0.0.1:0", "", true};
    StartCoordinator();
  }
  int port() { return coordinator().metrics_port(); }
  MetricsPage Page() { return MetricsPage::Of(port()); }
  double Number(const std::string& sql) { return std::atof(Query(sql).c_str()); }
  // Whether the page comes to show this.
  bool Shows(const std::string& name, const MetricsPage::Labels& labels, double value) {
    return Eventually([&] { return Page().Value(name, labels) == value; });
  }
};

}  // namespace warpsmith::testing

#endif  // WARPSMITH_TESTS_COORDINATOR_METRICS_SHOWN_CLUSTER_H_

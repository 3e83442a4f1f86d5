// What a scraper sees: an HTTP GET on the loopback, a page in Prometheus' text format taken apart, docs/metrics.md to
// compare it with, and promtool's opinion. Threading: one thread.
#ifndef WARPSMITH_TESTS_SUPPORT_METRICS_PAGE_H_
#define WARPSMITH_TESTS_SUPPORT_METRICS_PAGE_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace warpsmith::testing {

struct HttpAnswer {
  int status = 0;  // 0: none came
  std::string body;
  double seconds = 0;
};
HttpAnswer HttpGet(int port, const std::string& path, const std::string& method = "GET");

class MetricsPage {
 public:
  using Labels = std::map<std::string, std::string>;

  // Throws std::runtime_error with the line that is not in the format.
  explicit MetricsPage(const std::string& text);
  // Of a running process; throws where it does not answer.
  static MetricsPage Of(int port);

  const std::map<std::string, std::string>& types() const { return types_; }  // by name
  // Of a sample by its full name ("warpsmith_x_count") with exactly these labels; unset: it is not there.
  std::optional<double> Value(const std::string& name, const Labels& labels = {}) const;
  // Of all samples of that name.
  double Sum(const std::string& name) const;
  size_t Samples(const std::string& name) const;
  std::set<std::string> LabelNames(const std::string& metric) const;  // of all of its samples, but "le"
  const std::string& text() const { return text_; }

 private:
  struct Sample {
    std::string name;
    Labels labels;
    double value = 0;
  };
  std::string text_;
  std::map<std::string, std::string> types_;
  std::vector<Sample> samples_;
};

// A line for each difference between the page and the section ("Coordinator") of docs/metrics.md: a metric that is not
// documented, has another type or other labels, or is documented and missing though it is not among `may_be_absent`.
std::string DifferencesFromDocs(const MetricsPage& page, const std::string& section,
                                const std::set<std::string>& may_be_absent = {});

// What `promtool check metrics` says against it; empty: nothing. Throws where promtool is not installed.
std::string PromtoolSays(const MetricsPage& page);

}  // namespace warpsmith::testing

#endif  // WARPSMITH_TESTS_SUPPORT_METRICS_PAGE_H_

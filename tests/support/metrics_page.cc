#include "tests/support/metrics_page.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <stdexcept>

#include "common/clock.h"
#include "common/file.h"
#include "common/run_child.h"

namespace warpsmith::testing {
namespace {

constexpr char kPromtool[] = "/usr/bin/promtool";

std::string Trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

bool EndsWith(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// The metric that a sample belongs to.
std::string MetricOf(const std::string& sample, const std::map<std::string, std::string>& types) {
  for (const char* end : {"_bucket", "_sum", "_count"}) {
    if (!EndsWith(sample, end)) continue;
    const std::string base = sample.substr(0, sample.size() - std::string(end).size());
    const auto found = types.find(base);
    if (found != types.end() && found->second == "histogram") return base;
  }
  return sample;
}

// Of `{a="x",b="y"}`, without the braces.
MetricsPage::Labels LabelsOf(const std::string& text) {
  MetricsPage::Labels labels;
  size_t at = 0;
  while (at < text.size()) {
    const size_t equals = text.find("=\"", at);
    if (equals == std::string::npos) throw std::runtime_error("labels: " + text);
    std::string value;
    size_t end = equals + 2;
    for (; end < text.size() && text[end] != '"'; ++end) {
      if (text[end] == '\\') ++end;
      value += text[end];
    }
    if (end >= text.size()) throw std::runtime_error("labels: " + text);
    if (!labels.emplace(text.substr(at, equals - at), value).second) throw std::runtime_error("label twice: " + text);
    at = end + 1;
    if (at < text.size() && text[at] == ',') ++at;
  }
  return labels;
}

struct Documented {
  std::string type;
  std::set<std::string> labels;
};

std::vector<std::string> InTicks(const std::string& text) {
  std::vector<std::string> found;
  for (size_t at = text.find('`'); at != std::string::npos;) {
    const size_t end = text.find('`', at + 1);
    if (end == std::string::npos) break;
    found.push_back(text.substr(at + 1, end - at - 1));
    at = text.find('`', end + 1);
  }
  return found;
}

std::map<std::string, Documented> ReadDocs(const std::string& section) {
  const auto text = ReadFile(WARPSMITH_SOURCE_DIR "/docs/metrics.md");
  if (!text.ok()) throw std::runtime_error(Message(text.status()));
  std::istringstream lines(*text);
  std::map<std::string, Documented> documented;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("## ", 0) == 0) inside = line == "## " + section;
    if (!inside || line.rfind("| `warpsmith_", 0) != 0) continue;
    std::vector<std::string> cells;
    std::istringstream row(line.substr(1));
    for (std::string cell; std::getline(row, cell, '|');) cells.push_back(Trimmed(cell));
    if (cells.size() < 5) throw std::runtime_error("docs/metrics.md: " + line);
    Documented& entry = documented[InTicks(cells[0]).at(0)];
    entry.type = cells[1];
    for (const std::string& label : InTicks(cells[3])) entry.labels.insert(label);
  }
  return documented;
}

std::string Joined(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

HttpAnswer HttpGet(int port, const std::string& path, const std::string& method) {
  HttpAnswer answer;
  const TimePoint started = RealClock().Now();
  const int socket_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  timeval patience{10, 0};
  setsockopt(socket_fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string received;
  if (connect(socket_fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) {
    const std::string request = method + " " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    if (send(socket_fd, request.data(), request.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(request.size())) {
      char buffer[16384];
      for (ssize_t got = 0; (got = recv(socket_fd, buffer, sizeof(buffer), 0)) > 0;) {
        received.append(buffer, static_cast<size_t>(got));
      }
    }
  }
  close(socket_fd);
  answer.seconds = ToSeconds(RealClock().Now() - started);
  const size_t head = received.find("\r\n\r\n");
  if (head == std::string::npos || received.rfind("HTTP/1.1 ", 0) != 0) return answer;
  answer.status = std::atoi(received.c_str() + 9);
  answer.body = received.substr(head + 4);
  return answer;
}

MetricsPage::MetricsPage(const std::string& text) : text_(text) {
  std::istringstream lines(text);
  std::set<std::string> helped;
  std::set<std::pair<std::string, Labels>> seen;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    if (line.rfind("# HELP ", 0) == 0) {
      helped.insert(line.substr(7, line.find(' ', 7) - 7));
      continue;
    }
    if (line.rfind("# TYPE ", 0) == 0) {
      const size_t space = line.find(' ', 7);
      const std::string name = line.substr(7, space - 7);
      if (!helped.contains(name)) throw std::runtime_error("no help: " + line);
      if (!types_.emplace(name, Trimmed(line.substr(space))).second) throw std::runtime_error("type twice: " + line);
      continue;
    }
    if (line[0] == '#') throw std::runtime_error("comment: " + line);
    Sample sample;
    const size_t brace = line.find('{');
    const size_t space = line.rfind(' ');
    if (space == std::string::npos) throw std::runtime_error("sample: " + line);
    sample.name = line.substr(0, brace == std::string::npos ? space : brace);
    if (brace != std::string::npos) {
      const size_t close = line.rfind('}');
      if (close == std::string::npos || close < brace) throw std::runtime_error("sample: " + line);
      sample.labels = LabelsOf(line.substr(brace + 1, close - brace - 1));
    }
    char* end = nullptr;
    sample.value = std::strtod(line.c_str() + space + 1, &end);
    if (*end != '\0') throw std::runtime_error("value: " + line);
    if (!types_.contains(MetricOf(sample.name, types_))) throw std::runtime_error("no type: " + line);
    if (!seen.emplace(sample.name, sample.labels).second) throw std::runtime_error("sample twice: " + line);
    samples_.push_back(std::move(sample));
  }
}

MetricsPage MetricsPage::Of(int port) {
  const HttpAnswer answer = HttpGet(port, "/metrics");
  if (answer.status != 200) throw std::runtime_error("/metrics answers " + std::to_string(answer.status));
  return MetricsPage(answer.body);
}

std::optional<double> MetricsPage::Value(const std::string& name, const Labels& labels) const {
  for (const Sample& sample : samples_) {
    if (sample.name == name && sample.labels == labels) return sample.value;
  }
  return std::nullopt;
}

double MetricsPage::Sum(const std::string& name) const {
  double sum = 0;
  for (const Sample& sample : samples_) sum += sample.name == name ? sample.value : 0;
  return sum;
}

size_t MetricsPage::Samples(const std::string& name) const {
  size_t count = 0;
  for (const Sample& sample : samples_) count += sample.name == name ? 1 : 0;
  return count;
}

std::set<std::string> MetricsPage::LabelNames(const std::string& metric) const {
  std::set<std::string> names;
  for (const Sample& sample : samples_) {
    if (MetricOf(sample.name, types_) != metric) continue;
    for (const auto& [name, value] : sample.labels) {
      if (name != "le") names.insert(name);
    }
  }
  return names;
}

std::string DifferencesFromDocs(const MetricsPage& page, const std::string& section,
                                const std::set<std::string>& may_be_absent) {
  const std::map<std::string, Documented> documented = ReadDocs(section);
  std::string differences;
  for (const auto& [name, type] : page.types()) {
    const auto found = documented.find(name);
    if (found == documented.end()) {
      differences += name + " is not in docs/metrics.md, section " + section + "\n";
      continue;
    }
    if (found->second.type != type)
      differences += name + " is a " + type + ", documented as " + found->second.type + "\n";
    const std::set<std::string> labels = page.LabelNames(name);
    if (labels != found->second.labels) {
      differences +=
          name + " has labels (" + Joined(labels) + "), documented are (" + Joined(found->second.labels) + ")\n";
    }
  }
  for (const auto& [name, entry] : documented) {
    if (!page.types().contains(name) && !may_be_absent.contains(name))
      differences += name + " is documented and not there\n";
  }
  return differences;
}

std::string PromtoolSays(const MetricsPage& page) {
  if (!std::filesystem::exists(kPromtool)) {
    throw std::runtime_error("promtool is not installed; install the package prometheus");
  }
  ChildOptions options;
  options.arguments = {kPromtool, "check", "metrics"};
  const auto exit = RunChild(options, page.text(), std::chrono::seconds(20));
  if (!exit.ok()) throw std::runtime_error(Message(exit.status()));
  const std::string said = exit->standard_output + exit->standard_error;
  return exit->exit_code == 0 ? said : said + "(exit status " + std::to_string(exit->exit_code) + ")";
}

}  // namespace warpsmith::testing

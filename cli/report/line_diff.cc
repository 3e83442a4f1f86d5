#include "cli/report/line_diff.h"

#include <algorithm>
#include <utility>

namespace warpsmith::cli::report {
namespace {

using Lines = std::vector<std::string_view>;

// The furthest x on each diagonal -d, -d+2 … d after d edits, for every d; empty where it takes more than `most`.
std::vector<std::vector<int>> Trace(const Lines& a, const Lines& b, int most) {
  const int n = static_cast<int>(a.size()), m = static_cast<int>(b.size());
  std::vector<std::vector<int>> trace;
  for (int d = 0; d <= std::min(most, n + m); ++d) {
    std::vector<int> reach(static_cast<size_t>(d) + 1);
    for (int i = 0; i <= d; ++i) {
      const int k = 2 * i - d;
      int x = 0;
      if (d > 0) {
        const std::vector<int>& last = trace.back();
        const int below = i < d ? last[static_cast<size_t>(i)] : -1;          // from diagonal k + 1: a line added
        const int right = i > 0 ? last[static_cast<size_t>(i) - 1] + 1 : -1;  // from diagonal k - 1: one removed
        x = std::max(below, right);
      }
      int y = x - k;
      while (x < n && y >= 0 && y < m && a[static_cast<size_t>(x)] == b[static_cast<size_t>(y)]) ++x, ++y;
      reach[static_cast<size_t>(i)] = x;
      if (x >= n && y >= m) {
        reach.resize(static_cast<size_t>(i) + 1);
        trace.push_back(std::move(reach));
        return trace;
      }
    }
    trace.push_back(std::move(reach));
  }
  return {};
}

void AppendScript(const Lines& a, const Lines& b, int most, std::vector<DiffLine>* out) {
  const std::vector<std::vector<int>> trace = Trace(a, b, most);
  if (trace.empty()) {
    for (const std::string_view line : a) out->push_back({DiffLine::kRemoved, line});
    for (const std::string_view line : b) out->push_back({DiffLine::kAdded, line});
    return;
  }
  std::vector<DiffLine> reversed;
  int x = static_cast<int>(a.size()), y = static_cast<int>(b.size());
  for (int d = static_cast<int>(trace.size()) - 1; d >= 0; --d) {
    const int k = x - y, i = (k + d) / 2;
    int from_x = 0, from_y = 0;
    bool added = false;
    if (d > 0) {
      const std::vector<int>& last = trace[static_cast<size_t>(d) - 1];
      const int below = i < d ? last[static_cast<size_t>(i)] : -1;
      const int right = i > 0 ? last[static_cast<size_t>(i) - 1] + 1 : -1;
      added = below >= right;
      from_x = added ? below : right - 1;
      from_y = from_x - (added ? k + 1 : k - 1);
    }
    const int after_x = d == 0 ? 0 : added ? from_x : from_x + 1;
    while (x > after_x) {
      --x, --y;
      reversed.push_back({DiffLine::kSame, a[static_cast<size_t>(x)]});
    }
    if (d == 0) break;
    if (added) {
      reversed.push_back({DiffLine::kAdded, b[static_cast<size_t>(from_y)]});
    } else {
      reversed.push_back({DiffLine::kRemoved, a[static_cast<size_t>(from_x)]});
    }
    x = from_x;
    y = from_y;
  }
  out->insert(out->end(), reversed.rbegin(), reversed.rend());
}

}  // namespace

std::vector<std::string_view> SplitLines(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    lines.push_back(line);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

std::vector<DiffLine> DiffLines(std::string_view before, std::string_view after, int most_edits) {
  Lines a = SplitLines(before), b = SplitLines(after);
  std::vector<DiffLine> out;
  size_t head = 0;
  while (head < a.size() && head < b.size() && a[head] == b[head]) out.push_back({DiffLine::kSame, a[head++]});
  size_t tail = 0;
  while (tail < a.size() - head && tail < b.size() - head && a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) ++tail;
  const auto middle = [&](const Lines& lines) {
    return Lines(lines.begin() + static_cast<std::ptrdiff_t>(head), lines.end() - static_cast<std::ptrdiff_t>(tail));
  };
  AppendScript(middle(a), middle(b), most_edits, &out);
  for (size_t i = a.size() - tail; i < a.size(); ++i) out.push_back({DiffLine::kSame, a[i]});
  return out;
}

}  // namespace warpsmith::cli::report

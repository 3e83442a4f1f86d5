#include "cli/report/line_diff.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

namespace warpsmith::cli::report {
namespace {

std::string Told(const std::vector<DiffLine>& lines) {
  std::string out;
  for (const DiffLine& line : lines) out += std::string(1, " -+"[line.kind]) + std::string(line.text) + "|";
  return out;
}

// The text of one side.
std::string Side(const std::vector<DiffLine>& lines, DiffLine::Kind without) {
  std::string out;
  for (const DiffLine& line : lines) {
    if (line.kind != without) out += std::string(line.text) + "\n";
  }
  return out;
}

int Edits(const std::vector<DiffLine>& lines) {
  int edits = 0;
  for (const DiffLine& line : lines) edits += line.kind != DiffLine::kSame;
  return edits;
}

TEST_CASE("lines that were added, removed and kept", "[unit]") {
  CHECK(Told(DiffLines("a\nb\nc\n", "a\nx\nc\n")) == " a|-b|+x| c|");
  CHECK(Told(DiffLines("", "a\n")) == "+a|");
  CHECK(Told(DiffLines("a\n", "")) == "-a|");
  CHECK(Told(DiffLines("", "")).empty());
  CHECK(Told(DiffLines("a\r\nb", "a\nb\n")) == " a| b|");  // line ends are not told
  CHECK(Told(DiffLines("a\nb\n", "b\na\n")).size() > 0);
}

TEST_CASE("both texts come back out of their difference, and no shorter one exists", "[unit]") {
  uint64_t state = 7;
  const auto draw = [&](int below) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<int>((state >> 33) % static_cast<uint64_t>(below));
  };
  for (int round = 0; round < 300; ++round) {
    std::string before, after;
    const int n = draw(14), m = draw(14), letters = 1 + draw(5);
    std::vector<char> a, b;
    for (int i = 0; i < n; ++i) a.push_back(static_cast<char>('a' + draw(letters)));
    for (int i = 0; i < m; ++i) b.push_back(static_cast<char>('a' + draw(letters)));
    for (const char c : a) before += std::string(1, c) + "\n";
    for (const char c : b) after += std::string(1, c) + "\n";
    // The longest common subsequence, by the table.
    std::vector<std::vector<int>> table(a.size() + 1, std::vector<int>(b.size() + 1));
    for (size_t i = 0; i < a.size(); ++i) {
      for (size_t k = 0; k < b.size(); ++k) {
        table[i + 1][k + 1] = a[i] == b[k] ? table[i][k] + 1 : std::max(table[i][k + 1], table[i + 1][k]);
      }
    }
    const std::vector<DiffLine> lines = DiffLines(before, after);
    REQUIRE(Side(lines, DiffLine::kAdded) == before);
    REQUIRE(Side(lines, DiffLine::kRemoved) == after);
    REQUIRE(Edits(lines) == n + m - 2 * table[a.size()][b.size()]);
  }
}

TEST_CASE("texts with too little in common are told whole", "[unit]") {
  std::string before = "same\n", after = "same\n";
  for (int i = 0; i < 50; ++i) {
    before += "a" + std::to_string(i) + "\n";
    after += "b" + std::to_string(i) + "\n";
  }
  const std::vector<DiffLine> lines = DiffLines(before, after, 20);
  CHECK(lines.size() == 101);
  CHECK(lines[0].kind == DiffLine::kSame);
  CHECK(Side(lines, DiffLine::kAdded) == before);
  CHECK(Side(lines, DiffLine::kRemoved) == after);
}

}  // namespace
}  // namespace warpsmith::cli::report

#include "cli/report/trajectory_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "cli/report/plot_parts.h"
#include "cli/text.h"

namespace warpsmith::cli::report {
namespace {

constexpr double kLane = 20;
constexpr double kColumnAir = 0.12;  // of a column's width, at each side
constexpr int kManyDots = 2000;      // above it dots are small
constexpr size_t kTitleCharacters = 90;
constexpr size_t kMostTitles = 6;  // of ideas in one cell's tip

struct RefLine {
  std::string label;
  double ratio;
};

class TrajectoryDrawing {
 public:
  TrajectoryDrawing(const SearchFigures& figures, const TrajectoryOptions& options)
      : figures_(figures), options_(options) {
    area_.height = options.height;
    CollectRounds();
    CollectReferences();
    ScaleAxis();
  }

  Html Draw() {
    if (columns_.empty()) return {};
    area_.below = 24 + kLane * static_cast<double>(lanes_.size()) + (lanes_.empty() ? 0 : 6);
    for (const auto& [round, column] : columns_) {
      if (column > 0) AddLine(&svg_, Left(column), area_.top, Left(column), area_.total() - 22, "class=\"grid\"");
    }
    if (!axis_.empty()) {
      labels_.Raw(fmt::format("<text x=\"{}\" y=\"10\" class=\"end\">of eager</text>", kAxisWidth - 6));
      AddVerticalAxis(axis_, area_, "×", &labels_, &svg_);
      DrawReferences();
      if (options_.dots) DrawDots();
      DrawBest();
    } else {
      AddText(&svg_, 0.5, area_.top + area_.height / 2, "no correct kernel has a ratio to PyTorch eager",
              "class=\"mid\"");
    }
    DrawLanes();
    DrawRounds();
    return Figure("trajectory", area_, What(), labels_, svg_, Caption());
  }

 private:
  double Left(int column) const { return static_cast<double>(column) / static_cast<double>(columns_.size()); }
  double Middle(int column) const { return (column + 0.5) / static_cast<double>(columns_.size()); }

  void CollectRounds() {
    for (const v1::RoundSummary& round : figures_.search.rounds()) columns_[round.round()] = 0;
    bool used[kFates] = {};
    for (const v1::IdeaNode& node : figures_.report.ideas()) {
      for (const v1::Candidate& candidate : node.candidates()) {
        columns_[candidate.round()] = 0;
        used[static_cast<int>(FateOf(candidate))] = true;
      }
    }
    int next = 0;
    for (auto& [round, column] : columns_) column = next++;
    for (int i = 0; i < kFates; ++i) {
      if (used[i] && !HasTime(static_cast<Fate>(i))) lanes_.push_back(static_cast<Fate>(i));
    }
  }

  void CollectReferences() {
    if (!options_.reference || figures_.eager_ms <= 0) return;
    references_.push_back({"PyTorch eager", 1});
    for (const BaselineFigures& figure : figures_.baselines) {
      const v1::Baseline& baseline = *figure.baseline;
      if (baseline.name() == "eager" || baseline.median_ms() <= 0) continue;
      if (baseline.emulated() != figures_.search.emulated()) continue;
      if (baseline.name() == "eager_tf32_off" || baseline.name() == "eager_graph") continue;  // in the table
      references_.push_back({figure.label, figures_.eager_ms / baseline.median_ms()});
    }
    if (figures_.best == nullptr || figures_.search.emulated()) return;
    const v1::Roofline& roofline = figures_.best->evaluation().roofline();
    const double floor = std::max(roofline.memory_floor_ms(), roofline.compute_floor_ms());
    if (floor > 0) references_.push_back({"roofline", figures_.eager_ms / floor});
  }

  void ScaleAxis() {
    for (const v1::IdeaNode& node : figures_.report.ideas()) {
      for (const v1::Candidate& candidate : node.candidates()) {
        if (options_.dots && HasTime(FateOf(candidate))) axis_.Include(candidate.evaluation().ratio_to_eager());
      }
    }
    for (const v1::RoundSummary& round : figures_.search.rounds()) axis_.Include(round.best_ratio_to_eager());
    if (axis_.empty()) return;
    const double highest = axis_.high();
    for (const RefLine& line : references_) {
      if (line.ratio < 20 * highest) axis_.Include(line.ratio);
    }
    axis_.Finish();
  }

  void DrawReferences() {
    std::vector<double> heights;
    std::vector<const RefLine*> drawn;
    for (const RefLine& line : references_) {
      const double position = axis_.Position(line.ratio);
      if (!(position >= 0 && position <= 1)) continue;
      drawn.push_back(&line);
      heights.push_back(area_.Y(position) - 4);
      AddLine(&svg_, 0, area_.Y(position), 1, area_.Y(position),
              line.ratio == 1 && line.label == "PyTorch eager" ? "class=\"ref one\"" : "class=\"ref\"");
    }
    heights = Spread(heights, 13);
    for (size_t i = 0; i < drawn.size(); ++i) {
      AddText(&marks_, 0.004, heights[i],
              drawn[i]->ratio == 1 ? drawn[i]->label : drawn[i]->label + " " + RatioText(drawn[i]->ratio),
              "class=\"reflabel\"");
    }
  }

  // Candidates of a round from left to right as they came, those of an idea in one group.
  void DrawDots() {
    const bool dense = figures_.candidates > kManyDots;
    std::map<int, int> count, next;
    for (const v1::IdeaNode& node : figures_.report.ideas()) {
      for (const v1::Candidate& candidate : node.candidates()) count[candidate.round()] += Drawn(candidate);
    }
    for (const v1::IdeaNode& node : figures_.report.ideas()) {
      Html dots;
      for (const v1::Candidate& candidate : node.candidates()) {
        if (!Drawn(candidate)) continue;
        const int round = candidate.round();
        const double width = 1.0 / static_cast<double>(columns_.size());
        const double place = (next[round]++ + 0.5) / count[round];
        const double x = Left(columns_[round]) + width * (kColumnAir + (1 - 2 * kColumnAir) * place);
        dots.Raw(fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" class=\"{}{}{}\" data-tip=\"", Percent(x),
                             Pixels(area_.Y(axis_.Position(candidate.evaluation().ratio_to_eager()))),
                             dense ? "1.7" : "3", FateClass(FateOf(candidate)), dense ? " dense" : "",
                             figures_.lineage.count(candidate.id()) ? " lead" : ""))
            .Text(fmt::format("{} · {}", ShortId(candidate.id()), ShortVerdict(candidate)))
            .Raw("\"/>");
      }
      if (dots.empty()) continue;
      svg_.Raw("<g><title>")
          .Text(fmt::format("round {}: {}", node.round(), Cut(Line(node.idea().title()), kTitleCharacters)))
          .Raw("</title>")
          .Add(dots)
          .Raw("</g>");
    }
  }

  static bool Drawn(const v1::Candidate& candidate) {
    return HasTime(FateOf(candidate)) && candidate.evaluation().ratio_to_eager() > 0;
  }

  void DrawBest() {
    double last = 0, last_x = 0;
    for (const v1::RoundSummary& round : figures_.search.rounds()) {
      const double ratio = round.best_ratio_to_eager();
      if (ratio <= 0) continue;
      const double x = Middle(columns_[round.round()]), y = area_.Y(axis_.Position(ratio));
      if (last > 0) {
        const double last_y = area_.Y(axis_.Position(last));
        AddLine(&marks_, last_x, last_y, x, last_y, "class=\"best\"");
        if (ratio != last) AddLine(&marks_, x, last_y, x, y, "class=\"best\"");
      }
      if (ratio > last) {
        AddCircle(&marks_, x, y, "r=\"4.5\" class=\"bestdot\"");
        AddText(&marks_, x, y - 9, RatioText(ratio),
                columns_.size() > 8 ? "class=\"mid bestlabel many\"" : "class=\"mid bestlabel\"");
      }
      last = ratio;
      last_x = x;
    }
    if (last > 0) {
      const double y = area_.Y(axis_.Position(last));
      AddLine(&marks_, last_x, y, 1, y, "class=\"best\"");
    }
    svg_.Add(marks_);
  }

  void DrawLanes() {
    double y = area_.top + area_.height + 6;
    AddLine(&svg_, 0, y - 6, 1, y - 6, "class=\"axis\"");
    for (const Fate lane : lanes_) {
      labels_.Raw(fmt::format("<text x=\"{}\" y=\"{}\" class=\"end\">{}</text>", kAxisWidth - 6, Pixels(y + 14),
                              FateLabel(lane)));
      std::map<int, int> count;
      std::map<int, std::vector<std::string>> titles;
      for (const v1::IdeaNode& node : figures_.report.ideas()) {
        for (const v1::Candidate& candidate : node.candidates()) {
          if (FateOf(candidate) != lane) continue;
          ++count[candidate.round()];
          std::vector<std::string>& list = titles[candidate.round()];
          const std::string title = Cut(Line(node.idea().title()), kTitleCharacters);
          if (list.size() <= kMostTitles && (list.empty() || list.back() != title)) list.push_back(title);
        }
      }
      for (const auto& [round, number] : count) DrawCell(lane, round, number, titles[round], y);
      y += kLane;
    }
  }

  void DrawCell(Fate lane, int round, int number, const std::vector<std::string>& titles, double y) {
    std::string tip = fmt::format("round {}: {} {}", round, number, FateLabel(lane));
    for (size_t i = 0; i < titles.size(); ++i) tip += i < kMostTitles ? "; " + titles[i] : "; …";
    const double width = 1.0 / static_cast<double>(columns_.size());
    svg_.Raw("<g class=\"cell\" data-tip=\"").Text(tip).Raw("\"><title>").Text(tip).Raw("</title>");
    svg_.Raw(fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"3\" class=\"{}\"/>",
                         Percent(Left(columns_[round]) + 0.06 * width), Pixels(y + 1), Percent(0.88 * width),
                         Pixels(kLane - 3), FateClass(lane)));
    AddText(&svg_, Middle(columns_[round]), y + 14, std::to_string(number), "class=\"mid\"");
    svg_.Raw("</g>");
  }

  void DrawRounds() {
    const double y = area_.total() - 6;
    labels_.Raw(fmt::format("<text x=\"{}\" y=\"{}\" class=\"end\">round</text>", kAxisWidth - 6, Pixels(y)));
    const int every = static_cast<int>(columns_.size() + 23) / 24;
    for (const auto& [round, column] : columns_) {
      if (column % every == 0) AddText(&svg_, Middle(column), y, std::to_string(round), "class=\"mid\"");
    }
  }

  std::string What() const {
    std::string out = "Speed against PyTorch eager by round.";
    for (const v1::RoundSummary& round : figures_.search.rounds()) {
      out += round.best_ratio_to_eager() > 0
                 ? fmt::format(" Round {}: best so far {}.", round.round(), RatioText(round.best_ratio_to_eager()))
                 : fmt::format(" Round {}: no kernel yet.", round.round());
      if (out.size() > 1000) return out + " The table gives every round.";
    }
    return out;
  }

  Html Caption() const {
    Html out;
    const auto key = [&](std::string_view mark, std::string_view text) {
      out.Open("span", {{"class", "key"}}).Raw(mark).Text(text).Close("span");
    };
    const auto swatch = [](std::string_view name) {
      return fmt::format(
          "<svg width=\"12\" height=\"10\" aria-hidden=\"true\"><circle cx=\"6\" cy=\"5\" r=\"3.5\" "
          "class=\"{}\"/></svg>",
          name);
    };
    if (axis_.empty()) return out;
    key("<svg width=\"22\" height=\"10\" aria-hidden=\"true\"><line x1=\"0\" y1=\"5\" x2=\"22\" y2=\"5\" "
        "class=\"best\"/></svg>",
        "best so far");
    if (options_.dots) {
      key(swatch("valid"), "a correct kernel");
      if (!figures_.lineage.empty()) key(swatch("valid lead"), "on the way to the best");
      if (figures_.fates[static_cast<int>(Fate::kScreened)] > 0) {
        key(swatch("screened"), "screened out: far slower, not fully validated");
      }
    }
    if (!lanes_.empty()) key("", "numbers below: candidates without a time that counts");
    if (figures_.search.emulated()) key("", "emulated device");
    return out;
  }

  const SearchFigures& figures_;
  const TrajectoryOptions& options_;
  PlotArea area_;
  LogAxis axis_;
  std::map<int, int> columns_;  // by round
  std::vector<Fate> lanes_;
  std::vector<RefLine> references_;
  Html labels_, svg_, marks_;  // marks lie over everything
};

}  // namespace

Html TrajectoryPlot(const SearchFigures& figures, const TrajectoryOptions& options) {
  return TrajectoryDrawing(figures, options).Draw();
}

}  // namespace warpsmith::cli::report

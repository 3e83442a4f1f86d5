#include "cli/print_bank.h"

#include <fmt/format.h>

#include "cli/text.h"
#include "common/protocol_names.h"

namespace warpsmith::cli {
namespace {

constexpr int kWidePage = 140;

std::string IntervalText(double ratio, double low, double high) {
  if (!(ratio > 0)) return "no ratio to the reference was taken";
  return fmt::format("{:.3f} times the reference's speed (95 %: {:.3f} to {:.3f})", ratio, low, high);
}

std::string Revisions(const std::string& harness, const std::string& judge) {
  return fmt::format("harness {}, judge {}", harness.empty() ? "-" : Line(harness), judge.empty() ? "-" : Line(judge));
}

std::string DeviceText(const v1::DeviceDescription& device) {
  std::string text = Line(device.name());
  if (!device.uuid().empty()) text += " " + Line(device.uuid());
  if (!device.driver().empty()) text += ", driver " + Line(device.driver());
  if (!device.cuda_version().empty()) text += ", CUDA " + Line(device.cuda_version());
  if (device.emulated()) text += " (no GPU: for trying things out)";
  return text;
}

std::string ModelText(const v1::KernelProvenance& provenance) {
  if (provenance.model().empty() && provenance.provider().empty()) return "handed in by an operator";
  std::string text = Line(provenance.model().empty() ? provenance.provider() : provenance.model());
  if (!provenance.effort().empty()) text += ", effort " + Line(provenance.effort());
  if (!provenance.prompt_version().empty()) text += ", prompts " + Line(provenance.prompt_version());
  if (!provenance.prompt_variant().empty()) text += " (" + Line(provenance.prompt_variant()) + ")";
  return text;
}

std::string ProvenanceText(const v1::KernelProvenance& provenance) {
  std::string out = fmt::format(
      "found by search {} ({}), candidate {}{}\n", ShortId(provenance.search_id()), Line(provenance.search_name()),
      ShortId(provenance.candidate_id()),
      provenance.imported_at_us() > 0 ? ", imported " + FormatInstant(provenance.imported_at_us()) + " UTC" : "");
  int step = 0;
  for (const v1::ChainLink& link : provenance.chain()) {
    out += fmt::format("  {}. {}{} [{}]\n", ++step, Line(link.title()),
                       link.category().empty() ? "" : " (" + Line(link.category()) + ")", Line(link.origin()));
  }
  out += "  written by: " + ModelText(provenance) + "\n";
  out += fmt::format("  confirmed: {} ms on {}, {} UTC, {}\n", FormatMs(provenance.median_ms()),
                     DeviceText(provenance.device()), FormatInstant(provenance.confirmed_at_us()),
                     Revisions(provenance.harness_rev(), provenance.judge_rev()));
  if (provenance.has_confirmation() && provenance.confirmation().ratio_to_reference() > 0) {
    out += "  " +
           IntervalText(provenance.confirmation().ratio_to_reference(), provenance.confirmation().reference_low(),
                        provenance.confirmation().reference_high()) +
           "\n";
  }
  if (!provenance.pytorch_version().empty()) out += "  PyTorch " + Line(provenance.pytorch_version()) + "\n";
  for (const auto& [name, value] : provenance.tune()) out += fmt::format("  tuned: {} = {}\n", Line(name), value);
  for (const v1::Baseline& baseline : provenance.baselines()) {
    out += fmt::format("  baseline {}: {}{}\n", Line(baseline.name()),
                       baseline.median_ms() > 0 ? FormatMs(baseline.median_ms()) + " ms, " : "",
                       baseline.median_ms() > 0 ? PrecisionClassName(baseline.precision_class())
                                                : "not taken: " + Line(baseline.skipped_reason()));
  }
  return out;
}

}  // namespace

std::string BankText(const v1::ListKernelsReply& reply) {
  Table table;
  table.AddColumn("candidate");
  table.AddColumn("family");
  table.AddColumn("device");
  table.AddColumn("ms", Table::kRight);
  table.AddColumn("of PyTorch", Table::kRight);
  table.AddColumn("class");
  table.AddColumn("state");
  table.AddColumn("problem");
  table.AddColumn("idea");
  for (const v1::BankKernel& kernel : reply.kernels()) {
    table.AddRow({ShortId(kernel.candidate_id()), kernel.operator_family(), kernel.device_class(),
                  FormatMs(kernel.median_ms()),
                  FormatPercent(kernel.ratio_to_eager()) + (kernel.emulated() ? " emulated" : ""),
                  PrecisionClassName(kernel.precision_class()),
                  kernel.state() == "trusted" && kernel.champion() ? "champion" : kernel.state(), kernel.problem_name(),
                  kernel.idea_title()});
  }
  return table.empty() ? "the bank has no such kernels\n" : table.ToString();
}

std::string PendingText(const v1::ListPendingReply& reply) {
  Table table;
  table.AddColumn("id");
  table.AddColumn("kind");
  table.AddColumn("problem");
  table.AddColumn("device");
  table.AddColumn("ms", Table::kRight);
  table.AddColumn("verifying");
  table.AddColumn("why it is not in the bank, or not trusted");
  for (const v1::PendingKernel& kernel : reply.kernels()) {
    table.AddRow({ShortId(kernel.id()), kernel.kind(), kernel.problem_name(), kernel.device_class(),
                  FormatMs(kernel.median_ms()), kernel.verifying() ? "yes" : "no", kernel.reason()});
  }
  return table.empty() ? "nothing waits to be admitted\n" : table.ToString(kWidePage);
}

std::string KernelText(const v1::KernelDetail& detail) {
  const v1::BankKernel& kernel = detail.kernel();
  std::string out = fmt::format("kernel {}: {} ({}) on {}\n", ShortId(kernel.id()), Line(kernel.problem_name()),
                                Line(kernel.operator_family()), Line(kernel.device_class()));
  out += fmt::format("state: {}{}\n", Line(kernel.state()), kernel.champion() ? ", champion of its class" : "");
  out += fmt::format("time: {} ms, class {}, {} of PyTorch's speed{}\n", FormatMs(kernel.median_ms()),
                     PrecisionClassName(kernel.precision_class()), FormatPercent(kernel.ratio_to_eager()),
                     kernel.emulated() ? " (emulated: no GPU's time)" : "");
  out += fmt::format("confirmed: {}; {}\n",
                     IntervalText(kernel.ratio_to_reference(), kernel.ratio_low(), kernel.ratio_high()),
                     Revisions(kernel.harness_rev(), kernel.judge_rev()));
  out += fmt::format("admitted: {} UTC\n", FormatInstant(kernel.admitted_at_us()));
  for (const v1::KernelProvenance& provenance : detail.provenance()) out += "\n" + ProvenanceText(provenance);
  if (detail.checks_size() > 0) {
    Table table;
    table.AddColumn("checked (UTC)");
    table.AddColumn("verdict");
    table.AddColumn("ms", Table::kRight);
    table.AddColumn("ratio", Table::kRight);
    table.AddColumn("by");
    table.AddColumn("on");
    for (const v1::KernelCheck& check : detail.checks()) {
      table.AddRow({FormatInstant(check.at_us()), check.verdict(), FormatMs(check.median_ms()),
                    check.ratio() > 0 ? fmt::format("{:.3f}", check.ratio()) : "-",
                    check.harness_rev() + "/" + check.judge_rev(), check.device_name()});
    }
    out += "\n" + table.ToString();
  }
  out += "\n" + Block(detail.source());
  if (out.back() != '\n') out += '\n';
  return out;
}

std::string VerificationsText(const v1::ListVerificationsReply& reply) {
  Table table;
  table.AddColumn("kernel");
  table.AddColumn("problem");
  table.AddColumn("device");
  table.AddColumn("verdict");
  table.AddColumn("before ms", Table::kRight);
  table.AddColumn("now ms", Table::kRight);
  table.AddColumn("what it says");
  for (const v1::Verification& one : reply.verifications()) {
    table.AddRow({ShortId(one.kernel_id().empty() ? one.candidate_id() : one.kernel_id()), one.problem_name(),
                  one.device_class(), one.verdict().empty() ? "under way" : one.verdict(), FormatMs(one.old_ms()),
                  FormatMs(one.new_ms()), one.message()});
  }
  return table.empty() ? "nothing was verified\n" : table.ToString(kWidePage);
}

}  // namespace warpsmith::cli

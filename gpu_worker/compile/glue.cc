#include "gpu_worker/compile/glue.h"

#include <fmt/format.h>

#include "gpu_worker/compile/host_toolchain.h"

namespace warpsmith::compile {

std::string MakeGlue(const wire::Job& job) {
  std::string glue = fmt::format("#include \"{}\"\n", kEmulationHeader);
  glue += job.host().prelude();
  // After the header, so that a candidate's macro cannot change what the header means.
  for (const std::string& option : job.options()) {
    if (option.substr(0, 2) != "-D") continue;
    size_t equals = option.find('=');
    glue += fmt::format("#define {} {}\n", option.substr(2, equals == std::string::npos ? equals : equals - 2),
                        equals == std::string::npos ? "1" : option.substr(equals + 1));
  }
  glue += "#include \"candidate.cu\"\n";
  for (int i = 0; i < job.kernel_names_size(); ++i) {
    glue += fmt::format("#line {} \"{}\"\nWARPSMITH_EMULATED_KERNEL({}, {})\n", i + 1, kRegistrationUnit, i,
                        job.kernel_names(i));
  }
  return glue;
}

std::vector<std::string> HostFlags(const wire::Job& job) {
  std::string standard = DefaultStandardFlag();
  bool fused = true;
  for (const std::string& option : job.options()) {
    if (option.substr(0, 6) == "--std=") standard = option.substr(1);
    if (option == "--fmad=false") fused = false;
    if (option == "--fmad=true") fused = true;
  }
  std::vector<std::string> flags = {standard};
  if (!fused) flags.emplace_back("-ffp-contract=off");
  return flags;
}

std::string DefaultStandardFlag() { return "-std=c++17"; }

std::string ExportScript() { return "{ global: warpsmith_kernel_*; warpsmith_invoke_*; local: *; };\n"; }

}  // namespace warpsmith::compile

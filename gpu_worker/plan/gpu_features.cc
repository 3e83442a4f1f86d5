#include "gpu_worker/plan/gpu_features.h"

#include <map>

#include "gpu_worker/plan/source_lexer.h"

namespace warpsmith::plan {
namespace {

constexpr char kAssembly[] = "inline assembly";

const std::map<std::string, std::string, std::less<>>& Words() {
  static const auto& words = *new std::map<std::string, std::string, std::less<>>{
      {"asm", kAssembly},
      {"__asm", kAssembly},
      {"__asm__", kAssembly},
      {"nvcuda", "WMMA (mma.h)"},
      {"memcpy_async", "asynchronous copies (memcpy_async)"},
      {"__pipeline_memcpy_async", "asynchronous copies (cuda_pipeline.h)"},
      {"CUtensorMap", "TMA (CUtensorMap)"},
      {"cluster_group", "thread block clusters"},
      {"this_cluster", "thread block clusters"},
      {"__cluster_dims__", "thread block clusters"},
      {"cudaGridDependencySynchronize", "programmatic dependent launch"},
      {"cudaTriggerProgrammaticLaunchCompletion", "programmatic dependent launch"},
      {"__nv_tex_surf_handler", "textures and surfaces"},
      {"cudaTextureObject_t", "textures and surfaces"},
      {"cudaSurfaceObject_t", "textures and surfaces"},
  };
  return words;
}

const std::map<std::string, std::string, std::less<>>& Headers() {
  static const auto& headers = *new std::map<std::string, std::string, std::less<>>{
      {"mma.h", "WMMA (mma.h)"},
      {"cuda_fp8.h", "8-bit floating point (cuda_fp8.h)"},
      {"cuda_fp6.h", "6-bit floating point (cuda_fp6.h)"},
      {"cuda_fp4.h", "4-bit floating point (cuda_fp4.h)"},
      {"cuda_pipeline.h", "asynchronous copies (cuda_pipeline.h)"},
      {"cuda_pipeline_primitives.h", "asynchronous copies (cuda_pipeline_primitives.h)"},
      {"cuda_awbarrier.h", "asynchronous barriers (cuda_awbarrier.h)"},
      {"cuda_awbarrier_primitives.h", "asynchronous barriers (cuda_awbarrier_primitives.h)"},
      {"cooperative_groups/memcpy_async.h", "asynchronous copies (cooperative_groups/memcpy_async.h)"},
  };
  return headers;
}

}  // namespace

std::optional<std::string> NeedsGpuFeature(std::string_view code) {
  SourceLexer lexer(code);
  Token token;
  while (lexer.Next(&token)) {
    if (token.kind == TokenKind::kIdentifier) {
      if (auto word = Words().find(token.text); word != Words().end()) return word->second;
    } else if (token.kind == TokenKind::kHeader) {
      if (auto header = Headers().find(token.text); header != Headers().end()) return header->second;
      if (token.text.starts_with("cuda/")) return "CUDA's C++ library (" + token.text + ")";
    }
  }
  return std::nullopt;
}

bool UsesInlineAssembly(std::string_view code) {
  SourceLexer lexer(code);
  Token token;
  while (lexer.Next(&token)) {
    if (token.kind != TokenKind::kIdentifier) continue;
    auto word = Words().find(token.text);
    if (word != Words().end() && word->second == kAssembly) return true;
  }
  return false;
}

}  // namespace warpsmith::plan

#include <cctype>

#include "llm_gateway/replies/ideas.h"
#include "llm_gateway/replies/text.h"

namespace warpsmith::gateway {
namespace {

// Words joined by single underscores.
std::string Key(std::string_view text) {
  std::string key;
  for (char c : AsciiLower(text)) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      key += c;
    } else if (!key.empty() && key.back() != '_') {
      key += '_';
    }
  }
  while (!key.empty() && key.back() == '_') key.pop_back();
  return key;
}

struct CategoryWord {
  const char* word;
  const char* category;
};

// Looked for in this order, the telling words first: "memory latency hiding" is about latency.
constexpr CategoryWord kCategoryWords[] = {
    {"async", "async_latency"},
    {"latency", "async_latency"},
    {"pipelin", "async_latency"},
    {"prefetch", "async_latency"},
    {"double_buffer", "async_latency"},
    {"overlap", "async_latency"},
    {"precision", "precision"},
    {"dtype", "precision"},
    {"data_type", "precision"},
    {"datatype", "precision"},
    {"numeric", "precision"},
    {"fp16", "precision"},
    {"bf16", "precision"},
    {"tf32", "precision"},
    {"fp8", "precision"},
    {"quanti", "precision"},
    {"parallel", "parallelism_occupancy"},
    {"occupancy", "parallelism_occupancy"},
    {"underutili", "parallelism_occupancy"},
    {"utili", "parallelism_occupancy"},
    {"launch_config", "parallelism_occupancy"},
    {"block_size", "parallelism_occupancy"},
    {"work_distribution", "parallelism_occupancy"},
    {"load_balanc", "parallelism_occupancy"},
    {"split_k", "parallelism_occupancy"},
    {"control", "control_flow"},
    {"unroll", "control_flow"},
    {"loop", "control_flow"},
    {"branch", "control_flow"},
    {"fus", "control_flow"},
    {"memory", "memory_access"},
    {"coalesc", "memory_access"},
    {"vector", "memory_access"},
    {"cache", "memory_access"},
    {"shared", "memory_access"},
    {"layout", "memory_access"},
    {"bandwidth", "memory_access"},
    {"tiling", "memory_access"},
    {"locality", "memory_access"},
    {"compute", "compute"},
    {"computation", "compute"},
    {"instruction", "compute"},
    {"tensor_core", "compute"},
    {"arithmetic", "compute"},
    {"algorithm", "compute"},
};

}  // namespace

std::string TitleKey(std::string_view title) {
  std::string key;
  for (char c : AsciiLower(title)) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || static_cast<unsigned char>(c) >= 0x80) key += c;
  }
  return key;
}

std::string NormalCategory(std::string_view category, std::string_view title) {
  const std::string key = Key(category);
  for (const char* name :
       {"memory_access", "async_latency", "precision", "compute", "parallelism_occupancy", "control_flow"}) {
    if (key == name) return name;
  }
  for (const std::string& text : {key, Key(title)}) {
    for (const CategoryWord& entry : kCategoryWords) {
      if (text.find(entry.word) != text.npos) return entry.category;
    }
  }
  return "compute";
}

}  // namespace warpsmith::gateway

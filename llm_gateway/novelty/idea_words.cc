#include "llm_gateway/novelty/idea_words.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <vector>

namespace warpsmith::gateway {
namespace {

constexpr size_t kMaxIdeaText = 8u << 10;
constexpr double kTechniqueWeight = 3;
constexpr double kWordWeight = 1;
constexpr double kNumberWeight = 0.5;  // sizes are tuned; they seldom make another idea
constexpr size_t kMaxPhrase = 4;

struct Technique {
  const char* name;
  const char* phrases;  // separated by '|', in plain words
};

constexpr Technique kTechniques[] = {
    {"#vector",
     "vectorize|vectorized|vector load|vector store|vector access|vector|float4|float2|half2|int4|uint4|"
     "128 bit|16 byte|wide load|wide access|wider load|128b"},
    {"#shared", "shared memory|smem|on chip memory|shared mem|scratchpad"},
    {"#coalesce", "coalesce|coalesced access|consecutive address|contiguous address|consecutive thread read"},
    {"#double_buffer",
     "double buffer|ping pong|pingpong|two stage|multi stage|multistage|three stage|four stage|"
     "software pipeline|software pipelining|triple buffer|pipeline|pipelining|pipelined"},
    {"#prefetch", "prefetch|preload|load ahead|load early|issue load early|load next"},
    {"#cp_async", "cp async|async copy|asynchronous copy|memcpy async|ldgsts|asynchronously copy|cuda pipeline"},
    {"#tma", "tma|bulk tensor|tensor memory accelerator|cp async bulk|tensor map|bulk copy"},
    {"#tensor_core", "tensor core|wmma|mma|hmma|mma sync|matrix unit|tensorcore"},
    {"#wgmma", "wgmma|warpgroup mma|warp group mma|warpgroup"},
    {"#tf32", "tf32"},
    {"#fp16", "fp16|half precision|float16|half"},
    {"#bf16", "bf16|bfloat16"},
    {"#fp8", "fp8|e4m3|e5m2"},
    {"#split_precision",
     "3xtf32|bf16x3|3xbf16|split precision|error compensated|compensated|hi lo split|"
     "high and low part|emulate fp32|emulated fp32"},
    {"#shuffle",
     "warp shuffle|shfl|shuffle|warp reduction|warp level reduction|warp reduce|shfl down sync|"
     "shfl xor sync|butterfly|warp level primitive|warp primitive"},
    {"#unroll", "unroll"},
    {"#fuse", "fuse|fusion|merge kernel|merge|single kernel|one kernel|one launch|single launch|fewer launch"},
    {"#one_pass",
     "single pass|one pass|online softmax|online algorithm|streaming softmax|online|"
     "running maximum|running max"},
    {"#welford", "welford"},
    {"#split_reduction",
     "split k|splitk|split reduction|slice k|split the k|split the reduction|partial sum per block|"
     "two phase reduction|two stage reduction|multi block reduction|several block per row"},
    {"#persistent", "persistent kernel|persistent block|persistent|grid stride loop|grid stride"},
    {"#occupancy", "occupancy|resident warp|active warp|resident block"},
    {"#register_limit",
     "launch bound|maxrregcount|register pressure|register cap|spill|limit register|"
     "fewer register|register count"},
    {"#register_tile",
     "register tile|register tiling|register block|register blocking|thread tile|micro tile|"
     "microtile|thread coarsen|thread coarsening|coarsen|several output per thread|"
     "multiple output per thread|more work per thread|several element per thread|"
     "multiple element per thread|output per thread|element per thread|result per thread"},
    {"#register_hold", "in register|register resident|hold in register|keep in register|register cache"},
    {"#bank_conflict", "bank conflict|conflict free|padding shared|pad|padding|swizzle|xor swizzle"},
    {"#raster",
     "rasterization|block swizzle|cta swizzle|l2 swizzle|thread block swizzle|block order|tile order|"
     "rasterize|grouped block|supertile"},
    {"#l2", "l2 cache|l2 hit|l2 locality|l2 persist|l2 reuse|l2"},
    {"#read_only", "read only cache|ldg|texture cache|restrict|read only path|const restrict"},
    {"#constant", "constant memory|constant cache|constant bank"},
    {"#implicit_gemm",
     "implicit gemm|im2col|convolution as gemm|convolution as matrix|as a matrix multiplication|"
     "as matrix product|gemm"},
    {"#winograd", "winograd"},
    {"#fft", "fft|frequency domain|fourier"},
    {"#fast_math",
     "fast math|expf|fast exponential|intrinsic|approximate|rsqrt|fast reciprocal|rcp|fast division|"
     "fdividef|cheaper transcendental|sfu"},
    {"#exp2", "exp2|exp2f|ex2|base 2|base two"},
    {"#warp_special",
     "warp specialize|warp specialization|warp specialized|producer consumer|producer warp|consumer warp"},
    {"#cluster", "thread block cluster|cluster|distributed shared memory|dsmem|multicast"},
    {"#cooperative", "cooperative launch|grid sync|grid wide|grid barrier|cooperative group"},
    {"#atomic", "atomic|atomicadd|red global"},
    {"#branch", "branch|divergence|divergent|predicate|predication|boundary check|bound check|guard|branchless"},
    {"#peel", "peel|tail loop|remainder loop|epilogue loop|interior tile|interior block|whole tile"},
    {"#block_size", "block size|thread per block|blockdim|block dimension|launch configuration|threadblock size"},
    {"#cache_hint",
     "streaming store|evict first|cache hint|non temporal|bypass l1|ldcs|stcs|cache operator|"
     "streaming load|no allocate|write through"},
    {"#layout", "transpose|transposed|nhwc|channel last|layout|repack|pack weight"},
    {"#address",
     "index arithmetic|integer division|address arithmetic|address computation|strength reduction|"
     "loop invariant|hoist|pointer increment|incremental pointer|div mod|modulo|fast divmod|magic number"},
    {"#ilp",
     "instruction level parallelism|ilp|independent accumulator|multiple accumulator|several accumulator|"
     "dependency chain|dependent chain|independent chain"},
    {"#warp_row", "warp per row|one warp per row|warp a row|row per warp"},
    {"#block_row", "block per row|one block per row|row per block"},
    {"#ldmatrix", "ldmatrix"},
    {"#fma", "fma|fused multiply add"},
    {"#store", "store|write|writeback|write back"},
};

// By their stems.
const std::set<std::string>& SmallWords() {
  static const auto& words = *[] {
    auto* made = new std::set<std::string>;
    for (const char* word :
         {"a",     "an",    "and",       "as",   "at",       "be",      "by",        "can",       "do",      "each",
          "for",   "from",  "in",        "into", "is",       "it",      "its",       "of",        "on",      "one",
          "or",    "so",    "that",      "the",  "then",     "this",    "to",        "use",       "using",   "with",
          "when",  "where", "which",     "will", "while",    "every",   "per",       "all",       "are",     "has",
          "have",  "more",  "via",       "make", "let",      "we",      "kernel",    "cuda",      "instead", "than",
          "their", "apply", "introduce", "add",  "better",   "such",    "these",     "them",      "not",     "no",
          "only",  "both",  "over",      "out",  "optimize", "improve", "efficient", "implement", "perform"}) {
      made->insert(Stem(word));
    }
    return made;
  }();
  return words;
}

bool IsNumber(const std::string& word) {
  return !word.empty() && std::isdigit(static_cast<unsigned char>(word[0])) != 0;
}

std::vector<std::string> Stems(std::string_view text) {
  std::vector<std::string> stems;
  std::string word;
  auto end_word = [&] {
    if (!word.empty()) stems.push_back(Stem(std::move(word)));
    word.clear();
  };
  for (char c : text.substr(0, kMaxIdeaText)) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || byte >= 0x80) {
      word += static_cast<char>(std::tolower(byte));
    } else {
      end_word();
    }
  }
  end_word();
  return stems;
}

std::string Joined(const std::vector<std::string>& words, size_t first, size_t count) {
  std::string text;
  for (size_t i = first; i < first + count; ++i) text += (i == first ? "" : " ") + words[i];
  return text;
}

const std::map<std::string, const char*>& Phrases() {
  static const auto& phrases = *[] {
    auto* made = new std::map<std::string, const char*>;
    for (const Technique& technique : kTechniques) {
      std::string_view rest = technique.phrases;
      while (!rest.empty()) {
        const size_t end = rest.find('|');
        const std::vector<std::string> stems = Stems(rest.substr(0, end));
        made->emplace(Joined(stems, 0, stems.size()), technique.name);
        rest = end == rest.npos ? std::string_view() : rest.substr(end + 1);
      }
    }
    return made;
  }();
  return phrases;
}

bool EndsIn(const std::string& word, std::string_view ending, size_t least) {
  return word.size() >= ending.size() + least && word.compare(word.size() - ending.size(), ending.size(), ending) == 0;
}

}  // namespace

std::string Stem(std::string word) {
  if (IsNumber(word)) return word;
  auto cut = [&word](std::string_view ending, size_t least, std::string_view instead = "") {
    if (!EndsIn(word, ending, least)) return false;
    word.resize(word.size() - ending.size());
    word += instead;
    return true;
  };
  if (!cut("ies", 3, "y") && !EndsIn(word, "ss", 1) && !EndsIn(word, "us", 1) && !EndsIn(word, "is", 1)) cut("s", 3);
  if (!cut("isation", 3, "iz") && !cut("ization", 3, "iz") && !cut("ising", 3, "iz") && !cut("izing", 3, "iz") &&
      !cut("ised", 3, "iz") && !cut("ized", 3, "iz") && !cut("ise", 4, "iz") && !cut("ize", 4, "iz")) {
    if (!cut("ing", 3)) cut("ed", 3);
    cut("e", 3);
  }
  if (word.size() > 3 && word.back() == word[word.size() - 2] &&
      std::isalpha(static_cast<unsigned char>(word.back())) != 0) {
    word.pop_back();
  }
  return word;
}

std::map<std::string, double> IdeaWords(std::string_view text) {
  const std::vector<std::string> stems = Stems(text);
  std::map<std::string, double> words;
  for (size_t i = 0; i < stems.size();) {
    size_t used = 0;
    for (size_t count = std::min(kMaxPhrase, stems.size() - i); count > 0 && used == 0; --count) {
      auto phrase = Phrases().find(Joined(stems, i, count));
      if (phrase == Phrases().end()) continue;
      words[phrase->second] = kTechniqueWeight;
      used = count;
    }
    if (used == 0) {
      if (SmallWords().count(stems[i]) == 0) words[stems[i]] = IsNumber(stems[i]) ? kNumberWeight : kWordWeight;
      used = 1;
    }
    i += used;
  }
  return words;
}

}  // namespace warpsmith::gateway

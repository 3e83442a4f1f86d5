// The words of an idea in normal form: endings taken off, small words left out, and the many names of one technique
// ("float4 loads", "128-bit vectorised accesses") made one word with a weight of its own.
// Threading: pure.
#ifndef WARPSMITH_LLM_GATEWAY_NOVELTY_IDEA_WORDS_H_
#define WARPSMITH_LLM_GATEWAY_NOVELTY_IDEA_WORDS_H_

#include <map>
#include <string>
#include <string_view>

namespace warpsmith::gateway {

// Word to weight; techniques begin with '#'. Work is bounded: text beyond 8 KiB is not looked at.
std::map<std::string, double> IdeaWords(std::string_view text);

// "vectorised", "vectorization" and "vectorize" have one stem.
std::string Stem(std::string word);

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_NOVELTY_IDEA_WORDS_H_

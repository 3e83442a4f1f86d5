// A FAKE model server made to be fast, so that it is not what a benchmark of the gateway measures: chat completions
// over HTTP/1.1 with keep-alive, answered from memory by one thread with epoll. It is no model: every answer is the
// same.
//   /plain/v1/chat/completions    about 2 KB at once
//   /stream/v1/chat/completions   the first chunk at once, then one every `gap` until there were `chunks`
// Threading: Serve blocks its thread for ever.
#ifndef WARPSMITH_BENCHMARKS_GATEWAY_MODEL_SERVER_H_
#define WARPSMITH_BENCHMARKS_GATEWAY_MODEL_SERVER_H_

#include "common/clock.h"

namespace warpsmith::bench {

struct ModelServerOptions {
  Duration gap = std::chrono::milliseconds(200);
  int chunks = 40;
};

// A listening socket on 127.0.0.1, on a port of the system's choice; -1 where there is none.
int Listen(int& port);
[[noreturn]] void Serve(int listener, const ModelServerOptions& options);

}  // namespace warpsmith::bench

#endif  // WARPSMITH_BENCHMARKS_GATEWAY_MODEL_SERVER_H_

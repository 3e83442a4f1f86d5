// What every program that serves or calls over gRPC sets up once.
// Threading: main's, before other threads.
#ifndef WARPSMITH_COMMON_GRPC_RUNTIME_H_
#define WARPSMITH_COMMON_GRPC_RUNTIME_H_

namespace warpsmith {

// gRPC locks by Abseil's mutexes, and Debian builds Abseil with its search for deadlocks, which keeps a graph of all
// locks behind one lock of its own: several percent of a busy service. It is a help for tests, not for programs.
void InitGrpcRuntime();

}  // namespace warpsmith

#endif  // WARPSMITH_COMMON_GRPC_RUNTIME_H_

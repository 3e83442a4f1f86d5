// Everything here tries to do harm, or is badly broken.
extern "C" int open(const char*, int, ...);
extern "C" long read(int, void*, unsigned long);
extern "C" long write(int, const void*, unsigned long);
extern "C" int fork();
extern "C" int socket(int, int, int);
extern "C" int connect(int, const void*, unsigned);
extern "C" int kill(int, int);
extern "C" int getppid();
extern "C" int raise(int);
extern "C" unsigned alarm(unsigned);
extern "C" unsigned sleep(unsigned);
extern "C" void exit(int);
extern "C" void _exit(int);
extern "C" void abort();
extern "C" int execve(const char*, char* const*, char* const*);
extern "C" long syscall(long, ...);
extern "C" void* mmap(void*, unsigned long, int, int, int, long);
extern "C" int close(int);

__global__ void open_passwd(int* x) { x[0] = open("/etc/passwd", 0); }
__global__ void open_for_writing(int* x) { x[0] = open("/tmp/warpsmith-hostile", 0101, 0600); }
__global__ void fork_it(int* x) { x[0] = fork(); }
__global__ void connect_out(int* x) { x[0] = socket(2, 1, 0); }
__global__ void run_shell(int* x) { execve("/bin/sh", nullptr, nullptr); }
__global__ void kill_parent(int* x) { kill(getppid(), 9); }
__global__ void stop_itself(int* x) { raise(19); }
__global__ void set_alarm(int* x) { alarm(1); }
__global__ void sleep_on(int* x) {
  for (;;) sleep(1000);
}
__global__ void exit_zero(int* x) { exit(0); }
__global__ void exit_zero_quickly(int* x) { _exit(0); }
__global__ void call_abort(int* x) { abort(); }
__global__ void print_to_output(int* x) {
  static const char text[] = "\x08\x0e";
  write(1, text, 2);
  write(2, text, 2);
  x[0] = 1;
}
__global__ void forge_report(int* x) {
  char zeros[64] = {};
  zeros[36] = 2;
  for (int i = 3; i < 64; ++i) write(i, zeros, 64);
  x[0] = 1;
}
__global__ void close_everything(int* x) {
  for (int i = 0; i < 64; ++i) close(i);
}
__global__ void ptrace_it(int* x) { x[0] = int(syscall(101, 0, 0, 0, 0)); }
__global__ void loop(int* x) {
  for (volatile int i = 0;; ++i) {
  }
}
__global__ void spin_on_atomic(int* x) {
  while (atomicAdd(&x[0], 0) == 0) {
  }
}
__global__ void divergent_barrier(int* x) {
  if (threadIdx.x < 16) {
    __syncthreads();
  } else {
    __syncwarp();  // waits for lanes that wait at the barrier
  }
}
__global__ void null_read(int* x) { x[0] = *reinterpret_cast<volatile int*>(0); }
__global__ void far_write(int* x) { x[1ll << 40] = 1; }
__global__ void misaligned(float* x) { *reinterpret_cast<float4*>(x + 1 + threadIdx.x) = make_float4(1, 2, 3, 4); }
__global__ void one_past(int* x, int n) { x[n] = 1; }
__global__ void shared_past(int* x) {
  extern __shared__ int room[];
  room[x[0]] = 1;
}
__device__ __noinline__ int deeper(volatile int* x, int n) {
  volatile int here[64];
  here[n & 63] = n;
  return n < 0 ? 0 : deeper(here, n + 1) + here[n & 63] + x[0];
}
__global__ void stack_bomb(int* x) { x[0] = deeper(x, 1); }
__global__ void heap_bomb(int* x) {
  while (malloc(1 << 16) != nullptr) {
  }
  x[0] = 1;
}
__global__ void memory_bomb(int* x) {
  for (;;) {
    char* p = static_cast<char*>(mmap(nullptr, 1 << 28, 3, 0x22, -1, 0));
    for (int i = 0; i < (1 << 28); i += 4096) p[i] = 1;
  }
}
__global__ void print_flood(int* x) {
  for (int i = 0; i < 1000000; ++i) printf("flood %d\n", i);
  x[0] = 1;
}
__global__ void trap(int* x) { __trap(); }
__global__ void failed_assertion(int* x) { assert(x[0] == 12345); }
__global__ void shift(unsigned* x) { x[1] = 1u << x[0]; }
__global__ void convert(float* x) { x[1] = float(int(x[0] * 1e20f)); }
__global__ void fine(int* x) { x[0] = 7; }

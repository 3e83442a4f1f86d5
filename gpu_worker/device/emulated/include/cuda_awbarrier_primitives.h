// cuda_awbarrier_primitives.h: only a GPU has this.
#error WARPSMITH_NEEDS_GPU asynchronous barriers (cuda_awbarrier_primitives.h)

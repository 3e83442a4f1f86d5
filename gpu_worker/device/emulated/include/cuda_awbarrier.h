// cuda_awbarrier.h: only a GPU has this.
#error WARPSMITH_NEEDS_GPU asynchronous barriers (cuda_awbarrier.h)

// cuda_fp8.h: only a GPU has this.
#error WARPSMITH_NEEDS_GPU 8-bit floats (cuda_fp8.h)

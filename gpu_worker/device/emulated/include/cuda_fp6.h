// cuda_fp6.h: only a GPU has this.
#error WARPSMITH_NEEDS_GPU 6-bit floats (cuda_fp6.h)

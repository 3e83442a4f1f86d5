// cuda_fp4.h: only a GPU has this.
#error WARPSMITH_NEEDS_GPU 4-bit floats (cuda_fp4.h)

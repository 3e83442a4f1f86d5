// curand_kernel.h: only a GPU has this.
#error WARPSMITH_NEEDS_GPU cuRAND

// mma.h: only a GPU has this.
#error WARPSMITH_NEEDS_GPU WMMA (mma.h)

// cuComplex.h: only a GPU has this.
#error WARPSMITH_NEEDS_GPU cuComplex

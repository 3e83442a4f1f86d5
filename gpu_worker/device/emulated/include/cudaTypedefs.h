// cudaTypedefs.h: only a GPU has this.
#error WARPSMITH_NEEDS_GPU the driver's types (cudaTypedefs.h)

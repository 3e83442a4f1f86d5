// cuda_pipeline.h: only a GPU has this.
#error WARPSMITH_NEEDS_GPU asynchronous copies (cuda_pipeline.h)

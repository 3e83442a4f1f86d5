// cooperative_groups/memcpy_async.h: only a GPU has this.
#error WARPSMITH_NEEDS_GPU asynchronous copies (cooperative_groups/memcpy_async.h)

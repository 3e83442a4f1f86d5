#include "gpu_worker/executor/child.h"

int main() { return warpsmith::executor::RunChildProcess(); }

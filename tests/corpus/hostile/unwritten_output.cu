/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"kernel": "relu", "grid": [257], "block": [256], "args": ["x", "output"]}]}
*/

__global__ void relu(const float* x, float* output) {}

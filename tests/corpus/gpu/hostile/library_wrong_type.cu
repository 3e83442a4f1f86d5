/* warpsmith-plan
{"version": 1,
 "scratch": [{"name": "half", "dtype": "float16", "shape": [1024, 1024]}],
 "steps": [{"memset": "half", "value": 0},
           {"library": "gemm", "compute": "fp16", "m": 1024, "n": 1024, "k": 1024,
            "A": "half", "lda": 1024, "B": "A", "ldb": 1024, "C": "output", "ldc": 1024}]}
*/

// A library call on one operand in half precision and one in float32.

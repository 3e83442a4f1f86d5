/* warpsmith-plan
{"version": 1,
 "steps": [{"memset": "output", "value": 0},
           {"library": "gemm", "compute": "fp32", "m": 1024, "n": 1024, "k": 1024,
            "A": "B", "lda": 1024, "B": "output", "ldb": 1024, "C": "A", "ldc": 1024}]}
*/

// A library call whose target is an input.

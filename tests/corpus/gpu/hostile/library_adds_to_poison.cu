/* warpsmith-plan
{"version": 1,
 "steps": [{"library": "gemm", "compute": "fp32", "m": 1024, "n": 1024, "k": 1024, "beta": 1.0,
            "A": "B", "lda": 1024, "B": "A", "ldb": 1024, "C": "output", "ldc": 1024}]}
*/

// Adds to an output that it never cleared.

/* warpsmith-plan
{"version": 1,
 "steps": [{"library": "gemm_strided_batched", "compute": "fp32", "m": 1024, "n": 1024, "k": 1024,
            "A": "B", "lda": 1024, "strideA": 9223372036854775807, "B": "A", "ldb": 1024, "strideB": 0,
            "C": "output", "ldc": 1024, "strideC": 1048576, "batchCount": 3}]}
*/

// A library call whose sizes overflow.

/* warpsmith-plan
{"version": 1,
 "steps": [{"library": "gemm_strided_batched", "compute": "fp32", "m": 256, "n": 256, "k": 256,
            "A": "B", "lda": 256, "strideA": 65536, "B": "A", "ldb": 256, "strideB": 65536,
            "C": "output", "ldc": 256, "strideC": 65536, "batchCount": 32}]}
*/

// One library call for the whole batch.

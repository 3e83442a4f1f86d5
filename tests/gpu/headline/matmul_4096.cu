/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"library": "gemm", "compute": "fp32", "m": 4096, "n": 4096, "k": 4096,
            "A": "b", "lda": 4096, "B": "a", "ldb": 4096, "C": "output", "ldc": 4096}]}
*/
// Row-major c = a b is column-major cᵀ = bᵀ aᵀ: the operands change places and nothing is transposed.

/* warpsmith-plan
{"version": 1,
 "steps": [{"library": "gemm", "compute": "tf32", "m": 1024, "n": 1024, "k": 1024,
            "A": "B", "lda": 1024, "B": "A", "ldb": 1024, "C": "output", "ldc": 1024}]}
*/

// The library at TF32, in column-major terms: the transposed product of the transposed matrices.

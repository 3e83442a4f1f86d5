/* warpsmith-plan
{"version": 1,
 "steps": [{"library": "gemm", "compute": "fp32", "m": 1024, "n": 1024, "k": 1024,
            "A": {"tensor": "B", "offset": 1}, "lda": 1024, "B": "A", "ldb": 1024, "C": "output", "ldc": 1024}]}
*/

// A library call that reads past its operand's end.

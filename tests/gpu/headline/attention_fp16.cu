/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"library": "attention_forward", "compute": "fp16", "q": "query", "k": "key", "v": "value", "o": "output",
            "b": 4, "h_q": 32, "h_k": 32, "h_v": 32, "s_q": 4096, "s_kv": 4096, "d_qk": 128, "d_v": 128}]}
*/
// cuDNN's fused attention.

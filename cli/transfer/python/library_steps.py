class _WarpsmithExactness:
    """How PyTorch multiplies float32 while it stands: by TF32, or not. Sums of half precision stay in float32."""

    def __init__(self, tf32):
        self._tf32 = tf32

    @staticmethod
    def _exchange(values):
        """Sets what is told and returns what was set."""
        before = {}
        for (place, name), value in values.items():
            before[place, name] = getattr(place, name)
            setattr(place, name, value)
        return before

    def __enter__(self):
        matmul, cudnn = torch.backends.cuda.matmul, torch.backends.cudnn
        wanted = {(matmul, "allow_tf32"): self._tf32, (cudnn, "allow_tf32"): self._tf32,
                  (matmul, "allow_fp16_reduced_precision_reduction"): False}
        if int(torch.__version__.split(".")[0]) >= 2:
            wanted[matmul, "allow_bf16_reduced_precision_reduction"] = False
        self._before = self._exchange(wanted)

    def __exit__(self, *_):
        self._exchange(self._before)


class _WarpsmithLibrary:
    """Library steps by PyTorch's operators, which call the same libraries. Operands are (name, first element)."""

    @property
    def library_names(self):
        return self.__dict__.setdefault("_library_names", {})

    def _operand(self, operand):
        name, offset = operand if isinstance(operand, tuple) else (operand, 0)
        self.library_names[name] = True
        return lambda: self.tensors[name][offset:]

    def _step(self, compute, work):
        exactness = _WarpsmithExactness(compute != "fp32")

        def action(_):
            with torch.no_grad(), exactness:
                work()
        self._actions.append(action)

    @staticmethod
    def _rounded(tensor, compute):
        """float32 operands rounded to the class; TF32 holds float16 and bfloat16 values exactly."""
        if tensor.dtype != torch.float32 or compute not in ("fp16", "bf16"):
            return tensor
        return tensor.to(torch.float16 if compute == "fp16" else torch.bfloat16).float()

    def gemm(self, compute, m, n, k, A, lda, B, ldb, C, ldc, transa="N", transb="N", alpha=1.0, beta=0.0, batchCount=1,
             strideA=0, strideB=0, strideC=0):
        """C = alpha op(A) op(B) + beta C, column-major; computed as the transposed product, row-major."""
        a, b, c = self._operand(A), self._operand(B), self._operand(C)

        def work():
            left = b().as_strided((batchCount, n, k), (strideB, ldb, 1) if transb == "N" else (strideB, 1, ldb))
            right = a().as_strided((batchCount, k, m), (strideA, lda, 1) if transa == "N" else (strideA, 1, lda))
            target = c().as_strided((batchCount, n, m), (strideC, ldc, 1))
            left, right = self._rounded(left, compute), self._rounded(right, compute)
            if target.dtype != left.dtype:
                left, right = left.to(target.dtype), right.to(target.dtype)
            if batchCount == 1:
                torch.addmm(target[0], left[0], right[0], beta=beta, alpha=alpha, out=target[0])
            else:
                torch.baddbmm(target, left, right, beta=beta, alpha=alpha, out=target)
        self._step(compute, work)

    gemm_strided_batched = gemm

    def conv_forward(self, compute, x, w, y, dimA, filterDimA, padA, filterStrideA, dilationA, groupCount=1, alpha=1.0,
                     beta=0.0, format="NCHW"):
        """y = alpha (x convolved with w) + beta y."""
        image, window, result = self._operand(x), self._operand(w), self._operand(y)

        def shaped(flat, sizes):
            if format == "NCHW":
                return flat[:math.prod(sizes)].view(sizes)
            order = [sizes[0], *sizes[2:], sizes[1]]
            return flat[:math.prod(sizes)].view(order).movedim(-1, 1)

        convolve = torch.conv2d if len(dimA) == 4 else torch.conv3d

        def work():
            inputs = [self._rounded(shaped(image(), dimA), compute),
                      self._rounded(shaped(window(), filterDimA), compute)]
            made = convolve(*inputs, None, filterStrideA, padA, dilationA, groupCount)
            target = shaped(result(), list(made.shape))
            if alpha != 1:
                made = made * alpha
            target.copy_(made if beta == 0 else made + beta * target)
        self._step(compute, work)

    def attention_forward(self, compute, q, k, v, o, b, h_q, h_k, h_v, s_q, s_kv, d_qk, d_v, attn_scale,
                          causal_mask="none"):
        """o = softmax(attn_scale q k^T, masked) v."""
        query, key, value, result = self._operand(q), self._operand(k), self._operand(v), self._operand(o)

        def heads(flat, count, length, width):
            shaped = flat[:b * count * length * width].view(b, count, length, width)
            return shaped if count == h_q else shaped.repeat_interleave(h_q // count, dim=1)

        def work():
            inputs = (query()[:b * h_q * s_q * d_qk].view(b, h_q, s_q, d_qk), heads(key(), h_k, s_kv, d_qk),
                      heads(value(), h_v, s_kv, d_v))
            mask = None
            if causal_mask == "bottom_right":
                mask = torch.ones(s_q, s_kv, dtype=torch.bool, device=inputs[0].device).tril(s_kv - s_q)
            made = torch.nn.functional.scaled_dot_product_attention(
                *inputs, attn_mask=mask, is_causal=causal_mask == "top_left", scale=attn_scale)
            result()[:b * h_q * s_q * d_v].view(b, h_q, s_q, d_v).copy_(made)
        self._step(compute, work)

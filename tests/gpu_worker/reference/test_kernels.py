"""kernels.cu against PyTorch's own operators: run on the host here, and compiled for GPUs where there is NVRTC."""

import os
import struct
import unittest

import support  # noqa: F401  (finds the package)
import torch

import fake_gpu
from warpsmith_oracle import answers, checksums, fills, judge, kernels, native, norms

CLASSES = list(norms.CLASSES)


class Compiles(unittest.TestCase):
    def test_for_the_architectures_at_hand(self):
        try:
            compiler = native.Nvrtc()
        except native.NativeError as error:
            self.skipTest(f"no NVRTC here: {error}")
        for architecture in ("sm_80", "sm_89", "sm_90"):
            self.assertEqual(compiler.compile(kernels.source(), architecture)[:4], b"\x7fELF")

    def test_an_error_is_told(self):
        try:
            compiler = native.Nvrtc()
        except native.NativeError as error:
            self.skipTest(f"no NVRTC here: {error}")
        with self.assertRaises(native.NativeError) as caught:
            compiler.compile("__global__ void broken( {", "sm_90")
        self.assertIn("error", str(caught.exception))


@unittest.skipIf(fake_gpu.library() is None, "no C++ compiler here")
class OnTheHost(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.kernels = fake_gpu.host_kernels()

    def test_checksums(self):
        generator = torch.Generator().manual_seed(1)
        data = [torch.randint(0, 256, (size,), generator=generator, dtype=torch.uint8)
                for size in (0, 1, 7, 8, 9, 15, 16, 17, 31, 4096, 100003)]
        key = 0xFEDCBA9876543210
        self.assertEqual(self.kernels.checksums(data, key), [checksums.checksum(part, key) for part in data])

    def test_a_checksum_sees_what_sums_do_not(self):
        values = torch.randn(1000)
        before = checksums.checksum(values.view(torch.uint8), 77)
        for change in (lambda v: v[[3, 5]].neg(), lambda v: v[[5, 3]], lambda v: v[[3, 5]] * 1.0000001):
            other = values.clone()
            other[[3, 5]] = change(other)
            self.assertNotEqual(checksums.checksum(other.view(torch.uint8), 77), before)
        self.assertNotEqual(checksums.checksum(values.view(torch.uint8), 78), before)

    def test_patterns(self):
        plain, fused = fills.Fills(), fills.Fills(self.kernels)
        fused._payloads = plain._payloads
        for dtype in ("float16", "bfloat16", "float32", "float64", "bool", "uint8", "int8", "int16", "int32", "int64"):
            for count in (1, 2, 5, 64, 1001):
                size = count * fills.element_bytes(dtype)
                left, right = (torch.zeros(size + 16, dtype=torch.uint8) for _ in range(2))
                for fill in (lambda f, data, d=dtype: f.fill_large(data, d),
                             lambda f, data, d=dtype: f.fill_poison(data, d, 0),
                             lambda f, data, d=dtype: f.fill_poison(data, d, 2)):
                    fill(plain, left[:size])
                    fill(fused, right[:size])
                    self.assertTrue(torch.equal(left, right), (dtype, count))

    def figures(self, got, own, residual, **rules):
        return self.kernels.judge(got, own, residual, **rules)

    def test_a_split_answer_is_the_answer(self):
        # Down to 1e-20: below 1e-30 the difference is a float32 without all its bits.
        answer = torch.randn(5001, dtype=torch.float64) * torch.logspace(-20, 30, 5001, dtype=torch.float64)
        own = answer.float()
        residual, figures = self.kernels.split(answer, own)
        pair = norms.Pair(own, residual)
        self.assertLess(float(((pair[:] - answer) / answer).abs().max()), 2.0 ** -45)
        scale, peak = norms.finite_scale(answer)
        mine = norms.scale_and_peak(figures.answer_squares, figures.answer_peak, 5001)
        self.assertAlmostEqual(mine[0] / scale, 1, places=12)
        self.assertAlmostEqual(mine[1] / peak, 1, places=12)

    def test_where_float32_overflows(self):
        answer = torch.tensor([1.0, 1e300, float("inf"), float("nan"), -1e300], dtype=torch.float64)
        made = answers.make("output", answer.float(), answer, None, self.kernels)
        plain = answers.make("output", answer.float(), answer, None)
        self.assertEqual((made.overflows, plain.overflows), (2, 2))
        self.assertEqual(made.stick.scale, plain.stick.scale)

    def outputs(self, own, answer):
        """Right and wrong outputs, by name."""
        size = own.numel()
        result = {"own": own.clone(), "exact": answer.float(), "one percent": own * 1.01,
                  "zeros": torch.zeros_like(own)}
        for name, change in (
                ("nan", lambda v: v.__setitem__(size // 2, float("nan"))),
                ("inf", lambda v: v.__setitem__(size - 1, float("-inf"))),
                ("one element", lambda v: v.__setitem__(size // 3, float(v.abs().max()) + 1)),
                ("last tile", lambda v: v[-(size % 256 or 256):].mul_(0.5)),
                ("noise", lambda v: v.add_(torch.randn(size) * 1e-4)),
                ("unwritten", lambda v: v.view(torch.int32)[-3:].fill_(self.poison))):
            result[name] = own.clone()
            change(result[name])
        return result

    poison = 0x7FA12345

    def test_the_judge_says_what_the_plain_judge_says(self):
        generator = torch.Generator().manual_seed(2)
        for size in (1, 5, 255, 256, 257, 1000, 4096 + 77):
            for special in (False, True):
                answer = torch.randn(size, generator=generator, dtype=torch.float64) * 3 + 0.5
                own = (answer * (1 + 1e-7 * torch.randn(size, generator=generator, dtype=torch.float64))).float()
                if special and size > 4:
                    answer[1] = own[1] = float("-inf")
                    answer[2] = own[2] = float("nan")
                    answer[3] = own[3] = 0.0
                plain = answers.make("output", own, answer, None)
                fused = answers.make("output", own, answer, None, self.kernels)
                for left, right in zip(plain.stick.torch_norms[:3], fused.stick.torch_norms[:3]):
                    self.assertAlmostEqual(left, right, delta=1e-6 * left)
                for name, output in self.outputs(own, answer).items():
                    for accepted in (CLASSES[:1], CLASSES):
                        self._equal(plain, fused, output, accepted, (size, special, name))

    def _equal(self, plain, fused, output, accepted, where):
        wanted = judge.judge_output(plain, output, accepted, 1e-2, True, self.poison)
        found = judge.judge_output(fused, output, accepted, 1e-2, True, self.poison)
        self.assertEqual((found.outcome, found.reached, found.kernelbench), (wanted.outcome, wanted.reached,
                                                                              wanted.kernelbench), where)
        for left, right in zip(wanted.norms[:3], found.norms[:3]):
            self.assertTrue(left == right or abs(left - right) <= 1e-6 * abs(left), (where, wanted.norms, found.norms))
        if wanted.mismatch is None:
            self.assertIsNone(found.mismatch)
            return
        for key in ("index", "wrong_elements", "elements"):
            self.assertEqual(found.mismatch[key], wanted.mismatch[key], where)
        self.assertEqual(str(found.mismatch["got"]), str(wanted.mismatch["got"]), where)
        self.assertEqual(found.message, wanted.message, where)

    def test_an_answer_of_its_own_precision(self):
        own = torch.randn(700)
        fused = answers.unanswered("output", own, self.kernels)
        plain = answers.make("output", own, None, None)
        self.assertTrue(fused.stick.widened and plain.stick.widened)
        self._equal(plain, fused, own * 1.00001, CLASSES[:1], "widened")
        self._equal(plain, fused, own, CLASSES[:1], "widened")

    def test_records_have_the_kernels_layout(self):
        self.assertEqual(kernels._FIGURES.size, 8 * len(kernels.FIELDS))
        self.assertEqual(struct.calcsize("<IIIfddd"), 40)
        import ctypes
        self.assertEqual(ctypes.sizeof(kernels._Rules), 40)
        self.assertTrue(os.path.exists(os.path.join(support.PACKAGE, "warpsmith_oracle", "kernels.cu")))


if __name__ == "__main__":
    unittest.main()

"""The judge's factors sort the corpora of honest and hostile outputs."""

import unittest

import support  # noqa: F401  (finds the package)
import corpus
import torch
from warpsmith_oracle import norms


def rank(name):
    return norms.CLASSES.index(name) if name in norms.CLASSES else len(norms.CLASSES)


class Corpus(unittest.TestCase):
    def test_every_output_is_sorted_rightly(self):
        counted = {True: 0, False: 0}
        wrong = []
        for seed in (1, 2, 3):
            for operator, answer, own, name, output, expected, honest in corpus.cases(seed):
                stick = norms.yardstick(own, answer)
                reached = norms.reached(norms.measure(output, answer, stick.scale), stick)
                right = rank(reached) <= rank(expected) if honest else rank(reached) >= max(rank(expected), 1)
                if not right:
                    wrong.append((operator, name, expected, reached))
                counted[honest] += 1
        self.assertEqual(wrong, [])
        self.assertGreater(counted[True], 120)
        self.assertGreater(counted[False], 300)

    def test_low_precision_is_told_from_float32(self):
        for operator, answer, own, name, output, expected, honest in corpus.cases(4):
            if honest and expected != norms.FP32:
                stick = norms.yardstick(own, answer)
                reached = norms.reached(norms.measure(output, answer, stick.scale), stick)
                self.assertNotEqual(reached, norms.FP32, (operator, name))

    def test_a_mean_over_everything_does_not_hide_one_wrong_element(self):
        answer = torch.ones(1 << 20, dtype=torch.float64)
        own = answer.float()
        stick = norms.yardstick(own, answer)
        output = own.clone()
        output[777] += 1e-3
        seen = norms.measure(output, answer, stick.scale)
        self.assertLess(seen.rms, norms.bounds(norms.FP32, stick).rms)
        self.assertNotEqual(norms.reached(seen, stick), norms.FP32)
        self.assertEqual(seen.worst, 777)

    def test_an_error_spread_evenly_is_seen_by_the_mean(self):
        answer = torch.linspace(1, 2, 1 << 16, dtype=torch.float64)
        own = answer.float()
        stick = norms.yardstick(own, answer)
        seen = norms.measure(answer * (1 + 20 * 2.0 ** -22), answer, stick.scale)
        limit = norms.bounds(norms.FP32, stick)
        self.assertLess(seen.tile, limit.tile)
        self.assertLess(seen.maximum, limit.maximum)
        self.assertEqual(norms.reached(seen, stick), norms.TF32)

    def test_chunks_change_nothing(self):
        generator = torch.Generator().manual_seed(5)
        answer = torch.randn(5000, generator=generator, dtype=torch.float64)
        got = (answer + 1e-3 * torch.randn(5000, generator=generator, dtype=torch.float64)).float()
        whole = norms.measure(got, answer, 1.0)
        before = norms._CHUNK
        try:
            norms._CHUNK = norms.TILE * 3
            pieces = norms.measure(got, answer, 1.0)
        finally:
            norms._CHUNK = before
        self.assertEqual(whole.worst, pieces.worst)
        for left, right in zip(whole[:3], pieces[:3]):
            self.assertAlmostEqual(left, right, places=12)


if __name__ == "__main__":
    unittest.main()

"""Weights of exported modules: made as the problem makes them, packed anew when they change."""
import torch

from exports_fixture import ExportsCase, load


class Weights(ExportsCase):
    def test_weights_packed_once_are_packed_anew_when_they_change(self):
        module, model, arguments = self.model_of("every_form")
        model(*arguments)
        log = next(iter(module._WarpsmithDevice.made.values())).cuda.log

        def packed():
            launches = sum(entry[:2] == ("kernel", "pack") for entry in log)
            log.clear()
            return launches

        self.assertEqual(1, packed())
        model(*arguments)
        self.assertEqual(0, packed())
        with torch.no_grad():
            model.weight.add_(1)
        model(*arguments)
        self.assertEqual(1, packed())
        model.weight = torch.nn.Parameter(torch.zeros(4, 6))
        model(*arguments)
        self.assertEqual(1, packed())

    def test_the_same_seed_gives_the_same_weights(self):
        for name in ("layer_norm_two_pass", "batch_norm_ignored_statistics", "every_form", "conv"):
            with self.subTest(name):
                problem = load(self.problems[name], name + "_problem")
                module = load(self.path(name + "_model.py"), name + "_model")
                torch.manual_seed(42)
                wanted = problem.Model(*problem.get_init_inputs()).state_dict()
                torch.manual_seed(42)
                got = module.ModelNew(*problem.get_init_inputs()).state_dict()
                self.assertEqual(list(wanted), list(got))
                for key, value in wanted.items():
                    self.assertTrue(torch.equal(value, got[key]), key)

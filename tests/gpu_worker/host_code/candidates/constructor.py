# expect: compile_error | ModelNew(*get_init_inputs()): TypeError
import torch


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return x

# expect: compile_error | importing the file, line 6: SyntaxError
import torch


class ModelNew(torch.nn.Module):
    def forward(self, x) return x

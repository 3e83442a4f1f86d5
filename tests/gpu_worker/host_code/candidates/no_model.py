# expect: plan_error | the file has no class ModelNew
import torch


class Model(torch.nn.Module):
    pass

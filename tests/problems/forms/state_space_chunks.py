import torch
import torch.nn as nn
import torch.nn.functional as F

batch = 2
length = 32
heads = 2
dimension = 8
states = 4
block = 8


class Model(nn.Module):
    """A state space model in chunks: cumulative sums, a masked exponential, and Einstein sums of four operands."""

    def __init__(self, count, chunk):
        super().__init__()
        self.chunk = chunk
        self.A = nn.Parameter(torch.randn(batch, length, count))
        self.B = nn.Parameter(torch.randn(batch, length, count, states))
        self.C = nn.Parameter(torch.randn(batch, length, count, states))

    def _segment_sums(self, x):
        size = x.size(-1)
        running = torch.cumsum(x, dim=-1)
        sums = running[..., :, None] - running[..., None, :]
        mask = torch.tril(torch.ones(size, size, device=x.device, dtype=torch.bool))
        return sums.masked_fill(~mask, -torch.inf)

    def _chunks(self, x):
        return x.reshape(x.size(0), x.size(1) // self.chunk, self.chunk, *x.shape[2:])

    def forward(self, x):
        values, A, B, C = (self._chunks(part) for part in (x, self.A, self.B, self.C))
        A = A.permute(0, 3, 1, 2)
        running = torch.cumsum(A, dim=-1)
        decay = torch.exp(self._segment_sums(A))
        within = torch.einsum("bclhn,bcshn,bhcls,bcshp->bclhp", C, B, decay, values)
        states_decay = torch.exp(running[:, :, :, -1:] - running)
        kept = torch.einsum("bclhn,bhcl,bclhp->bchpn", B, states_decay, values)
        kept = torch.cat([torch.zeros_like(kept[:, :1]), kept], dim=1)
        between = torch.exp(self._segment_sums(F.pad(running[:, :, :, -1], (1, 0))))
        carried = torch.einsum("bhzc,bchpn->bzhpn", between, kept)[:, :-1]
        across = torch.einsum("bclhn,bchpn,bhcl->bclhp", C, carried, torch.exp(running))
        return (within + across).reshape(x.shape)


def get_inputs():
    return [torch.rand(batch, length, heads, dimension)]


def get_init_inputs():
    return [heads, block]

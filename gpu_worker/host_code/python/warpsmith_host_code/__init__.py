"""The process that runs a PyTorch module on tensors of somebody else's: a candidate's `ModelNew`, or, in a process of
its own, the problem's `Model` that it is compared with.

Nothing here is trusted once a candidate's code runs: it may change whatever it likes in this process. What counts is
what the parent sees: its own clock between a request and the answer, and what stands in its buffers by then. The checks
here serve candidates that are wrong by mistake: they say what is wrong.
"""

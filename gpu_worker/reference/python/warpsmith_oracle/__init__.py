"""The trusted side of judging a candidate kernel.

One process a worker. It builds the operator's PyTorch module, makes inputs from secret seeds, runs the module in its
own precision and in float64, fills the buffers that a candidate works on, and judges what the candidate wrote. It
speaks JSON lines on standard input and output (protocol.py) and may be killed and restarted at any time.

Everything runs on a device that is a parameter; only buffers.py knows that a CPU's buffers are files in shared memory.
Runs on PyTorch 1.13 and on 2.x.
"""

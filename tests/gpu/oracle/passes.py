"""The fused passes against PyTorch's own operators on the GPU, and what each costs on 1 GiB. Run by run.py."""

import time

import harness
from harness import check, row

import torch

from warpsmith_oracle import answers, checksums, device as devices, fills, judge, kernels, norms
from warpsmith_oracle.buffers import DeviceBuffer
from warpsmith_oracle.reference import Problem

DEVICE = torch.device("cuda:0")
POISON = 0x7FA12345
CLASSES = list(norms.CLASSES)


def timed(run, repeat=5):
    run()
    torch.cuda.synchronize()
    taken = []
    for _ in range(repeat):
        start = time.perf_counter()
        run()
        torch.cuda.synchronize()
        taken.append((time.perf_counter() - start) * 1e3)
    return sorted(taken)[repeat // 2]


def equal_verdicts(plain, fused, output, accepted):
    left = judge.judge_output(plain, output, accepted, 1e-2, True, POISON)
    right = judge.judge_output(fused, output, accepted, 1e-2, True, POISON)
    same = (left.outcome, left.reached, left.kernelbench, left.message) == (
        right.outcome, right.reached, right.kernelbench, right.message)
    close = all(a == b or abs(a - b) <= 1e-6 * abs(a) for a, b in zip(left.norms[:3], right.norms[:3]))
    same_place = (left.mismatch or {}).get("index") == (right.mismatch or {}).get("index") and (
        (left.mismatch or {}).get("wrong_elements") == (right.mismatch or {}).get("wrong_elements"))
    return same and close and same_place, (left.outcome, left.message, left.norms, right.outcome, right.message,
                                           right.norms)


def outputs(own, answer):
    size, flat = own.numel(), own.reshape(-1)
    changes = {
        "own": lambda v: v, "one percent": lambda v: v.mul_(1.01), "zeros": lambda v: v.zero_(),
        "nan": lambda v: v[size // 2:size // 2 + 1].fill_(float("nan")), "inf": lambda v: v[-1:].fill_(float("-inf")),
        "element": lambda v: v[size // 3:size // 3 + 1].add_(7.0),
        "last tile": lambda v: v[-(size % 256 or 256):].mul_(0.5),
        "half": lambda v: v.copy_(v.half().float()), "bfloat16": lambda v: v.copy_(v.bfloat16().float()),
        "unwritten": lambda v: v.view(torch.int32)[-3:].fill_(POISON)}
    yield "exact", answer.float()
    for name, change in changes.items():
        changed = flat.clone()
        change(changed)
        yield name, changed.view_as(own)


def equality(made):
    torch.manual_seed(1)
    count, wrong = 0, []
    for size in (1, 255, 256, 1000, 65536 + 77, 5_000_000):
        for special in (False, True):
            answer = torch.randn(size, dtype=torch.float64, device=DEVICE) * 3 + 0.5
            own = (answer * (1 + 1e-7 * torch.randn_like(answer))).float()
            if special and size > 4:
                answer[1] = own[1] = float("-inf")
                answer[2] = own[2] = float("nan")
                answer[3] = own[3] = 0.0
            plain, fused = answers.make("output", own, answer, None), answers.make("output", own, answer, None, made)
            for name, output in outputs(own, answer):
                for accepted in (CLASSES[:1], CLASSES):
                    same, seen = equal_verdicts(plain, fused, output, accepted)
                    count += 1
                    if not same:
                        wrong.append((size, special, name, seen))
    check("fused judge equals the plain one", not wrong, f"{count} verdicts" if not wrong else wrong[:2])

    data = [torch.randint(0, 256, (size,), dtype=torch.uint8, device=DEVICE)
            for size in (0, 1, 7, 8, 9, 15, 16, 17, 4096, 100003, 9 << 20, (40 << 20) + 5)]
    key = 0xFEDCBA9876543210
    check("fused checksums equal the plain ones",
          made.checksums(data, key) == [checksums.checksum(part, key) for part in data], f"{len(data)} sizes")

    plain, fused = fills.Fills(), fills.Fills(made)
    fused._payloads = plain._payloads
    wrong = []
    for dtype in ("float16", "bfloat16", "float32", "float64", "bool", "uint8", "int16", "int32", "int64"):
        for number in (1, 5, 1001, 3_000_001):
            size = number * fills.element_bytes(dtype)
            left, right = (torch.zeros(size, dtype=torch.uint8, device=DEVICE) for _ in range(2))
            for fill in (lambda f, d: f.fill_large(d, dtype), lambda f, d: f.fill_poison(d, dtype, 1)):
                fill(plain, left)
                fill(fused, right)
                if not torch.equal(left, right):
                    wrong.append((dtype, number))
    check("fused fills equal the plain ones", not wrong, wrong)


def guards(made):
    buffers = [DeviceBuffer(made.driver, DEVICE, f"b{index}", "float32", size, "BUFFER_KIND_OUTPUT")
               for index, size in enumerate((0, 1, 4, 1000, 2 << 20, 10_000_003))]
    zones = fills.KernelGuards(made)
    zones.fill(buffers)
    check("whole guards are whole", zones.damage(buffers) == "")
    wrong = []
    for buffer in buffers:
        for part, place, words in ((buffer.after, 0, "the first 0 bytes behind it"),
                                   (buffer.after, buffer.after.numel() - 1, "1 bytes behind the end"),
                                   (buffer.before, buffer.before.numel() - 1, "the last 1 bytes before it")):
            part[place] ^= 1
            found = zones.damage(buffers)
            part[place] ^= 1
            if words not in found or buffer.name not in found:
                wrong.append((buffer.name, place, found))
    check("each guard is watched to its edges", not wrong, wrong[:2])
    row("guards of 6 buffers, fill and check", timed(lambda: (zones.fill(buffers), zones.damage(buffers))), "ms")
    zones.forget()
    for buffer in buffers:
        buffer.close()


def costs(made):
    count = 1 << 28
    own = torch.rand(count, device=DEVICE)
    wide = own.double() * (1 + 1e-8)
    row("making the answer from a float64 run, 1 GiB", timed(lambda: answers.make("o", own, wide, None, made)), "ms")
    answer = answers.make("output", own, wide, None, made)
    del wide
    got = own.clone()
    data = got.view(torch.uint8)
    row("judge 1 GiB, fused",
        timed(lambda: judge.judge_output(answer, got, CLASSES[:1], 1e-2, True, POISON)), "ms", "three reads of 1 GiB")
    row("checksum 1 GiB", timed(lambda: made.checksums([data], 7)), "ms")
    row("poison 1 GiB", timed(lambda: fills.Fills(made).fill_poison(data, "float32", 0)), "ms")
    plain = answers.Answer("output", own, residual=answer.residual, stick=answer.stick)
    start = time.perf_counter()
    judge.judge_output(plain, own.clone(), CLASSES[:1], 1e-2, True, POISON)
    torch.cuda.synchronize()
    row("judge 1 GiB, PyTorch's operators", (time.perf_counter() - start) * 1e3, "ms")


def small_memory():
    """A float64 run that does not fit is made in pieces, and says the same."""
    source = ("import torch\nclass Model(torch.nn.Module):\n    def forward(self, x):\n"
              "        return torch.softmax(x, 1)\n"
              "def get_inputs():\n    return [torch.randn(4096, 16384)]\n"
              "def get_init_inputs():\n    return []\n")
    problem = Problem("rows", source, {}, lambda stage: None, DEVICE)
    whole = problem.make_case(1, "plain").outputs[0]
    torch.cuda.empty_cache()
    held = torch.cuda.memory_allocated(DEVICE)
    try:
        torch.cuda.set_per_process_memory_fraction((held + (1280 << 20)) / devices.total_bytes(DEVICE), DEVICE)
        case = problem.make_case(1, "plain")
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0, DEVICE)
    parts = case.outputs[0]
    apart = float((parts.answer - whole.answer).abs().max()) / whole.stick.scale
    check("a float64 answer in pieces is the whole one", "pieces" in " ".join(case.notes) and apart < 2.0 ** -30,
          f"{case.notes}, {apart:.1e} apart")
    problem.close()


def main():
    made = kernels.of(DEVICE)
    if not check("kernels.cu compiles and loads", made is not None, kernels.why_not(DEVICE)):
        return
    row("NVRTC: compiling and loading the passes", made.seconds * 1e3, "ms", "once a process")
    equality(made)
    guards(made)
    costs(made)
    torch.cuda.empty_cache()
    small_memory()
    torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
    harness.print_table()

class _WarpsmithCuda:
    """NVRTC and the CUDA driver through ctypes, in PyTorch's context: one object a device."""

    def __init__(self, device):
        if device.type != "cuda":
            raise RuntimeError("this kernel runs on a GPU; move the module and its inputs there with .cuda()")
        properties = torch.cuda.get_device_properties(device)
        self.device, self.sm_count = device, properties.multi_processor_count
        self.capability = 10 * properties.major + properties.minor
        if self.capability < _WarpsmithPlan.minimum_capability:
            raise RuntimeError(f"this kernel needs compute capability {_WarpsmithPlan.minimum_capability / 10}; "
                               f"{properties.name} has {self.capability / 10}")
        torch.empty(1, device=device)  # makes PyTorch's context the thread's
        self._driver = ctypes.CDLL("libcuda.so.1")
        self._functions = self._load() if _WarpsmithPlan.kernels else {}

    def current(self):
        return torch.cuda.device(self.device)

    def stream(self):
        return ctypes.c_void_p(torch.cuda.current_stream(self.device).cuda_stream)

    def check(self, code, what):
        if code != 0:
            text = ctypes.c_char_p()
            self._driver.cuGetErrorString(code, ctypes.byref(text))
            raise RuntimeError(f"{what}: {text.value.decode() if text.value else 'CUDA error'} ({code})")

    def _compiler(self):
        """NVRTC, and the folders of the headers that belong to it: the toolkit's, else PyTorch's own."""
        packages = os.path.join(os.path.dirname(os.path.dirname(torch.__file__)), "nvidia")
        homes = [home for home in (cpp_extension.CUDA_HOME, "/usr/local/cuda") if home]
        places = [(os.path.join(home, "lib64"), os.path.join(home, "include")) for home in homes]
        places += [(os.path.join(packages, library), os.path.join(packages, include)) for library, include in
                   (("cu13/lib", "cu13/include"), ("cuda_nvrtc/lib", "cuda_runtime/include"))]
        newest, major, minor = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
        self.check(self._driver.cuDriverGetVersion(ctypes.byref(newest)), "cuDriverGetVersion")
        for folder, include in places:
            found = sorted(glob.glob(os.path.join(folder, "libnvrtc.so*")))
            libraries = [path for path in found if ".alt." not in path]
            if not libraries or not os.path.isfile(os.path.join(include, "cuda_fp16.h")):
                continue
            # NVRTC looks for its built-ins by name only.
            for path in sorted(glob.glob(os.path.join(folder, "libnvrtc-builtins.so*")))[:1]:
                ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
            nvrtc = ctypes.CDLL(libraries[0])
            nvrtc.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
            if major.value <= newest.value // 1000:
                return nvrtc, [path for path in (include, os.path.join(include, "cccl")) if os.path.isdir(path)]
        raise RuntimeError("no NVRTC with its headers that the driver can work with: install the toolkit of CUDA "
                           f"{newest.value // 1000} or older, and set CUDA_HOME where it is not in /usr/local/cuda")

    def _load(self):
        """Compiles the kernels for this device. Name in the plan -> CUfunction."""
        nvrtc, folders = self._compiler()
        program = ctypes.c_void_p()
        nvrtc.nvrtcCreateProgram(ctypes.byref(program), _WarpsmithPlan.source.encode(), b"kernel.cu", 0, None, None)
        for name in _WarpsmithPlan.kernels:
            nvrtc.nvrtcAddNameExpression(program, name.encode())
        options = [f"--gpu-architecture=sm_{self.capability}{_WarpsmithPlan.architecture_suffix}"]
        options += ["--include-path=" + folder for folder in folders] + _WarpsmithPlan.options
        texts = (ctypes.c_char_p * len(options))(*[option.encode() for option in options])
        code = nvrtc.nvrtcCompileProgram(program, len(options), texts)
        size = ctypes.c_size_t()
        if code != 0:
            nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
            log = ctypes.create_string_buffer(size.value)
            nvrtc.nvrtcGetProgramLog(program, log)
            raise RuntimeError(f"NVRTC with {options[0]}: {log.value.decode(errors='replace')[:4000]}")
        nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size))
        cubin = ctypes.create_string_buffer(size.value)
        nvrtc.nvrtcGetCUBIN(program, cubin)
        module, functions = ctypes.c_void_p(), {}
        self.check(self._driver.cuModuleLoadData(ctypes.byref(module), cubin), "loading the kernels")
        for name in _WarpsmithPlan.kernels:
            symbol, function = ctypes.c_char_p(), ctypes.c_void_p()
            nvrtc.nvrtcGetLoweredName(program, name.encode(), ctypes.byref(symbol))
            self.check(self._driver.cuModuleGetFunction(ctypes.byref(function), module, symbol), f"kernel {name}")
            functions[name] = function
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
        return functions

    def launcher(self, name, grid, block, shared_bytes, cooperative, cluster):
        """launch(stream, parameters, None) of one kernel with these sizes."""
        function = self._functions[name]
        if shared_bytes > 0:
            # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES; a later, smaller launch must not take it back.
            largest = ctypes.c_int()
            self._driver.cuFuncGetAttribute(ctypes.byref(largest), 8, function)
            if shared_bytes > largest.value:
                self.check(self._driver.cuFuncSetAttribute(function, 8, shared_bytes),
                           f"{name}: {shared_bytes} bytes of dynamic shared memory")
        if not cooperative and not cluster:
            sizes = [ctypes.c_uint(size) for size in (*grid, *block, shared_bytes)]
            return functools.partial(self._driver.cuLaunchKernel, function, *sizes)
        attributes = (_WarpsmithAttribute * 2)()
        count = 0
        if cooperative:
            attributes[count].id, attributes[count].value[0] = 2, 1  # CU_LAUNCH_ATTRIBUTE_COOPERATIVE
            count += 1
        if cluster:
            attributes[count].id = 4  # CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
            attributes[count].value[:3] = cluster
            count += 1
        config = _WarpsmithConfig(*grid, *block, shared_bytes, None, ctypes.addressof(attributes), count)
        config.kept = attributes

        def launch(stream, parameters, extra):
            config.stream = stream
            return self._driver.cuLaunchKernelEx(ctypes.byref(config), function, parameters, extra)
        return launch

    def fill(self, address, value, width, count, stream):
        call, value_type = {1: (self._driver.cuMemsetD8Async, ctypes.c_ubyte),
                            2: (self._driver.cuMemsetD16Async, ctypes.c_ushort),
                            4: (self._driver.cuMemsetD32Async, ctypes.c_uint)}[width]
        self.check(call(address, value_type(value), ctypes.c_size_t(count), stream), "memset")

    def copy(self, target, source, size, stream):
        self.check(self._driver.cuMemcpyDtoDAsync_v2(target, source, ctypes.c_size_t(size), stream), "copy")

    def encode_tensor_map(self, target, address, dtype, shape, stride_bytes, box, swizzle):
        """cuTensorMapEncodeTiled; shape, strides and box innermost first."""
        rank = len(shape)
        kinds = {"float32": 7, "float64": 8, "float16": 6, "bfloat16": 9, "int64": 5, "uint64": 4, "int32": 3,
                 "uint32": 2, "int16": 1, "uint16": 1}
        self.check(self._driver.cuTensorMapEncodeTiled(
            ctypes.c_void_p(target), kinds.get(dtype, 0), rank, ctypes.c_void_p(address), (ctypes.c_uint64 * rank)(*shape),
            (ctypes.c_uint64 * max(rank - 1, 1))(*stride_bytes), (ctypes.c_uint32 * rank)(*box),
            (ctypes.c_uint32 * rank)(*[1] * rank), 0, {"none": 0, "32B": 1, "64B": 2, "128B": 3}[swizzle], 2, 0),
            "cuTensorMapEncodeTiled")


class _WarpsmithAttribute(ctypes.Structure):
    """CUlaunchAttribute."""
    _fields_ = [("id", ctypes.c_int), ("pad", ctypes.c_char * 4), ("value", ctypes.c_uint * 16)]


class _WarpsmithConfig(ctypes.Structure):
    """CUlaunchConfig."""
    _fields_ = [(name, ctypes.c_uint) for name in
                ("grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z", "shared_bytes")] + [
                    ("stream", ctypes.c_void_p), ("attributes", ctypes.c_void_p), ("attribute_count", ctypes.c_uint)]


class _WarpsmithRun(_WarpsmithLibrary):
    """Steps of the plan on one device: put together once, run with the addresses of each call. One thread at a time."""

    def __init__(self, cuda, steps):
        self.cuda, self.sm_count = cuda, cuda.sm_count
        self.tensors = {}     # flat, by name: of the call at hand, for library steps
        self._actions = []    # what happens on the stream, in order
        self._uses = {}       # name -> (ctypes value, bytes from the tensor's first one) of each place it is used in
        self._maps = {}       # name -> what encodes a TMA descriptor anew
        self._addresses = {}  # name -> address that the values hold now
        self._kept = []       # what launches point to
        steps(self)

    @property
    def names(self):
        """The tensors that the steps use."""
        return list({**self._uses, **self._maps, **self.library_names})

    def __call__(self, addresses, stream):
        for name, address in addresses.items():
            if self._addresses.get(name) == address:
                continue
            self._addresses[name] = address
            for value, offset in self._uses.get(name, ()):
                value.value = address + offset
            for encode in self._maps.get(name, ()):
                encode(address)
        for action in self._actions:
            action(stream)

    # The steps, as the plan has them.

    def kernel(self, name, grid, block, args, shared_bytes=0, cooperative=False, cluster=()):
        values = [self.at(argument) if isinstance(argument, str) else argument for argument in args]
        parameters = (ctypes.c_void_p * max(len(values), 1))(*[ctypes.addressof(value) for value in values])
        self._kept.append((values, parameters))
        sizes = [tuple(size) + (1,) * (3 - len(size)) for size in (grid, block)]
        cluster = tuple(cluster) + (1,) * (3 - len(cluster)) if cluster else ()
        launch = self.cuda.launcher(name, *sizes, shared_bytes, cooperative, cluster)
        check = self.cuda.check

        def action(stream):
            code = launch(stream, parameters, None)
            if code:
                check(code, f"launching {name}")
        self._actions.append(action)

    def memset(self, name, value, width=1):
        address, count = self.at(name), _WarpsmithPlan.bytes(name) // width
        if count > 0:
            self._actions.append(lambda stream: self.cuda.fill(address, value, width, count, stream))

    def copy(self, source, target):
        from_address, to_address, size = self.at(source), self.at(target), _WarpsmithPlan.bytes(target)
        if size > 0:
            self._actions.append(lambda stream: self.cuda.copy(to_address, from_address, size, stream))

    # Arguments.

    def at(self, name, offset=0):
        """The address of a tensor's element `offset`."""
        value = ctypes.c_uint64()
        self._uses.setdefault(name, []).append((value, offset * _WarpsmithPlan.element_bytes(name)))
        return value

    def tensor_map(self, name, box, swizzle="none"):
        """A TMA descriptor over a whole tensor."""
        dtype, shape, strides = _WarpsmithPlan.tensors[name]
        memory = ctypes.create_string_buffer(192)
        place = (ctypes.addressof(memory) + 63) // 64 * 64
        descriptor = (ctypes.c_char * 128).from_address(place)
        stride_bytes = [stride * _WarpsmithPlan.element_bytes(name) for stride in reversed(strides[:-1])]
        self._kept.append(memory)
        self._maps.setdefault(name, []).append(lambda address: self.cuda.encode_tensor_map(
            place, address, dtype, list(reversed(shape)), stride_bytes, box, swizzle))
        return descriptor

    bool, i8, u8, i32, u32 = ctypes.c_uint8, ctypes.c_int8, ctypes.c_uint8, ctypes.c_int32, ctypes.c_uint32
    i64, u64, f32, f64 = ctypes.c_int64, ctypes.c_uint64, ctypes.c_float, ctypes.c_double

    @staticmethod
    def f16(value):
        return ctypes.c_uint16(struct.unpack("<H", struct.pack("<e", value))[0])

    @staticmethod
    def bf16(value):
        return ctypes.c_uint16(struct.unpack("<I", struct.pack("<f", value))[0] >> 16)

    # Integers divide as in C.

    @staticmethod
    def quotient(left, right):
        result = abs(left) // abs(right)
        return result if (left < 0) == (right < 0) else -result

    @staticmethod
    def exact(left, right):
        if left % right != 0:
            raise ValueError(f"{left} is not a multiple of {right}: this kernel's grid does not suit this device")
        return left // right

    @staticmethod
    def remainder(left, right):
        return left - right * _WarpsmithRun.quotient(left, right)


class _WarpsmithDevice:
    """The plan on one device: the steps of every call, and those that pack weights once."""

    made = {}

    def __init__(self, device):
        self.cuda = _WarpsmithCuda(device)
        with self.cuda.current():
            self.steps = _WarpsmithRun(self.cuda, _WarpsmithPlan.steps)
            self.prepare = _WarpsmithRun(self.cuda, _WarpsmithPlan.prepare)

    @classmethod
    def of(cls, device):
        if device not in cls.made:
            cls.made[device] = cls(device)
        return cls.made[device]


def _warpsmith_fit(name, tensor, device):
    """The tensor as the kernel takes it: its type, shape, strides, place and alignment."""
    dtype, shape, strides = _WarpsmithPlan.tensors[name]
    if tuple(tensor.shape) != shape:
        raise ValueError(f"{name} has the shape {tuple(tensor.shape)}; this kernel was made for {shape}")
    wanted = getattr(torch, dtype)
    if tensor.dtype != wanted and (wanted.is_floating_point or not tensor.dtype.is_floating_point):
        raise ValueError(f"{name} is {tensor.dtype}; this kernel was made for {wanted}")
    same = all(size == 1 or have == want for size, have, want in zip(shape, tensor.stride(), strides))
    if same and tensor.dtype == wanted and tensor.device == device and tensor.data_ptr() % 256 == 0:
        return tensor
    if name in _WarpsmithPlan.updated:
        raise ValueError(f"{name} is changed in place, so it must be {wanted} with strides {strides} on {device}")
    # Integers that came as floating point, attributes left on the CPU, other layouts: a copy.
    moved = torch.empty_strided(shape, strides, dtype=wanted, device=device)
    moved.copy_(tensor.detach())
    return moved


def _warpsmith_flat(tensor):
    """All elements between the first and the last, in one dimension."""
    span = 1 + sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride())) if tensor.numel() else 0
    return torch.as_strided(tensor.detach(), (span,), (1,), tensor.storage_offset())


def _warpsmith_allot(names, device):
    """One allocation for these tensors: (memory, name -> first byte)."""
    offsets, total = {}, 0
    for name in names:
        offsets[name] = total
        total += (_WarpsmithPlan.bytes(name) + 255) // 256 * 256
    return torch.empty(max(total, 1), dtype=torch.uint8, device=device), offsets


def _warpsmith_addresses(run, tensors, memories):
    """name -> address for what the run uses; flat tensors too where library steps need them."""
    addresses = {name: tensor.data_ptr() for name, tensor in tensors.items()}
    for memory, offsets in memories:
        start = memory.data_ptr()
        for name, offset in offsets.items():
            addresses[name] = start + offset
    if run.library_names:
        run.tensors = {name: _warpsmith_flat(tensor) for name, tensor in tensors.items()}
        for memory, offsets in memories:
            for name in run.library_names:
                if name in offsets:
                    part = memory[offsets[name]:offsets[name] + _WarpsmithPlan.bytes(name)]
                    run.tensors[name] = part.view(getattr(torch, _WarpsmithPlan.tensors[name][0]))
    return addresses


def _warpsmith_prepared(kept, plan, given, tensors, device):
    """Memory with the packed weights; packed anew when a weight was replaced or changed in place."""
    weights = [given[name] for name in plan.prepare.names if name in given]
    state = [(weight.data_ptr(), 0 if weight.is_inference() else weight._version) for weight in weights]
    if kept.get("state") != state or kept["memory"].device != device:
        memory, offsets = _warpsmith_allot(_WarpsmithPlan.persistent, device)
        addresses = _warpsmith_addresses(plan.prepare, tensors, [(memory, offsets)])
        plan.prepare(addresses, plan.cuda.stream())
        kept.update(state=state, memory=memory, offsets=offsets)
    return kept["memory"], kept["offsets"]


def _warpsmith_call(given, kept):
    """Runs the kernel on the current stream. `given`: name -> tensor. Returns the outputs in order."""
    first = next(iter(given.values()))
    device = next((tensor.device for tensor in given.values() if tensor.is_cuda), first.device)
    plan = _WarpsmithDevice.of(device)
    with plan.cuda.current():
        tensors = {name: _warpsmith_fit(name, tensor, device) for name, tensor in given.items()}
        outputs = {name: torch.empty(shape, dtype=getattr(torch, dtype), device=device)
                   for name, (dtype, shape, _) in _WarpsmithPlan.outputs.items()}
        memories = [_warpsmith_prepared(kept, plan, given, tensors, device)] if _WarpsmithPlan.persistent else []
        if _WarpsmithPlan.scratch:
            memories.append(_warpsmith_allot(_WarpsmithPlan.scratch, device))
        addresses = _warpsmith_addresses(plan.steps, {**tensors, **outputs}, memories)
        plan.steps(addresses, plan.cuda.stream())
    return list(outputs.values())


def _warpsmith_leaves(name, value):
    """(name, leaf) of nested lists and dictionaries, as the plan names them: xs[0], d[key]."""
    if isinstance(value, (list, tuple)):
        for index, entry in enumerate(value):
            yield from _warpsmith_leaves(f"{name}[{index}]", entry)
    elif isinstance(value, dict):
        for key, entry in value.items():
            yield from _warpsmith_leaves(f"{name}[{key}]", entry)
    else:
        yield name, value


def _warpsmith_arguments(signature, args, kwargs):
    """name -> tensor of forward()'s arguments. Others must be what they were when the kernel was made."""
    tensors = {}
    bound = signature.bind(None, *args, **kwargs).arguments
    for parameter in list(signature.parameters.values())[1:]:
        if parameter.name not in bound:
            continue
        name = "input." + parameter.name if parameter.name.startswith("output") else parameter.name
        for leaf_name, leaf in _warpsmith_leaves(name, bound[parameter.name]):
            if isinstance(leaf, torch.Tensor):
                tensors[leaf_name] = leaf
            elif leaf_name in _WarpsmithPlan.frozen and leaf != _WarpsmithPlan.frozen[leaf_name]:
                raise ValueError(f"{leaf_name} is {leaf!r}; this kernel was made for "
                                 f"{_WarpsmithPlan.frozen[leaf_name]!r}")
    missing = [name for name in _WarpsmithPlan.inputs if name not in tensors]
    if missing:
        raise ValueError(f"forward() needs the tensor {missing[0]}")
    return {name: tensors[name] for name in _WarpsmithPlan.inputs}


def _warpsmith_module_tensor(module, path):
    """A parameter or buffer by its dotted path; another tensor attribute as "attr:path", with [index] or [key]."""
    steps = re.findall(r"[^.\[\]]+", path[5:] if path.startswith("attr:") else path)
    value = module
    for step in steps:
        if isinstance(value, (list, tuple)):
            value = value[int(step)]
        elif isinstance(value, dict):
            value = value[step] if step in value else value[int(step)]
        else:
            value = getattr(value, step)
    return value


def _warpsmith_reference():
    """The problem's own module: its constructor makes ModelNew's parameters."""
    module = types.ModuleType("warpsmith_reference")
    exec(compile(_WARPSMITH_REFERENCE, "reference.py", "exec"), module.__dict__)
    return module

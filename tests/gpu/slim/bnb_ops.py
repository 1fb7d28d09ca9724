#!/usr/bin/env python3
"""Runs bitsandbytes' quantisation, matmul and optimisers on fixed data; one hash each, as JSON.

    bnb_ops.py OUT.json          with PYTHONPATH choosing the bitsandbytes to use
"""
import hashlib
import json
import sys

import torch
import bitsandbytes as bnb
import bitsandbytes.functional as F

results, failed = {}, {}


def digest(x):
    return hashlib.sha256(x.detach().contiguous().cpu().view(torch.uint8).numpy().tobytes()).hexdigest()[:16]


def op(name, fn):
    torch.manual_seed(1)
    try:
        out = fn()
        results[name] = [digest(i) for i in (out if isinstance(out, (tuple, list)) else [out])]
    except Exception as e:
        failed[name] = f"{type(e).__name__}: {str(e).splitlines()[0][:160]}"


def make(*shape, dtype=torch.float16, seed=0):
    g = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=g).to(dtype).cuda()


for dtype in (torch.float16, torch.bfloat16, torch.float32):
    a = make(512, 1024, dtype=dtype)
    for kind in ("nf4", "fp4"):
        for block in (64, 128, 256, 512, 1024, 2048, 4096):
            def quantise(a=a, kind=kind, block=block):
                q, state = F.quantize_4bit(a, blocksize=block, quant_type=kind)
                return q, F.dequantize_4bit(q, state)
            op(f"4bit-{kind}-{block}-{dtype}", quantise)
        def gemv(a=a, kind=kind, dtype=dtype):
            q, state = F.quantize_4bit(a, quant_type=kind)
            return bnb.matmul_4bit(make(1, 1024, dtype=dtype, seed=3), q.t(), quant_state=state)
        op(f"gemv-{kind}-{dtype}", gemv)
        def gemm(a=a, kind=kind, dtype=dtype):
            q, state = F.quantize_4bit(a, quant_type=kind)
            return bnb.matmul_4bit(make(33, 1024, dtype=dtype, seed=3), q.t(), quant_state=state)
        op(f"gemm-{kind}-{dtype}", gemm)
    for block in (64, 256, 1024, 4096):
        def blockwise(a=a, block=block):
            q, state = F.quantize_blockwise(a, blocksize=block)
            return q, F.dequantize_blockwise(q, state)
        op(f"blockwise-{block}-{dtype}", blockwise)
op("int8-vectorwise", lambda: F.int8_vectorwise_quant(make(64, 256))[0])
op("int8-matmul", lambda: bnb.matmul(make(64, 256), make(128, 256, seed=2)))
for name in ("Adam8bit", "AdamW8bit", "Lion8bit", "SGD8bit", "RMSprop8bit", "Adagrad8bit", "AdEMAMix8bit",
             "Adam", "AdamW", "Lion", "AdEMAMix"):
    def optimise(name=name):
        torch.manual_seed(2)
        w = torch.nn.Parameter(make(128, 256, dtype=torch.float32))
        extra = {"lr": 1e-2} | ({"momentum": 0.9} if "SGD" in name else {})
        opt = getattr(bnb.optim, name)([w], **extra)
        for _ in range(4):
            opt.zero_grad()
            w.square().sum().backward()
            opt.step()
        return w
    op(f"optim-{name}", optimise)
json.dump({"bitsandbytes": bnb.__version__, "file": bnb.__file__, "results": results, "failed": failed},
          open(sys.argv[1], "w"), indent=1)
print(f"bitsandbytes {bnb.__version__}: {len(results)} results, {len(failed)} failed")

#!/usr/bin/env python3
"""Runs more than 100 torch operations on fixed data and prints one hash each, as JSON.

    torch_ops.py OUT.json        with PYTHONPATH choosing the torch to use
"""
import hashlib
import json
import sys
import time

start = time.perf_counter()
import torch
import torch.nn.functional as F

imported = time.perf_counter() - start
start = time.perf_counter()
torch.zeros(1, device="cuda").add_(1).item()
first_launch = time.perf_counter() - start

torch.use_deterministic_algorithms(False)
torch.backends.cuda.matmul.allow_tf32 = False
torch.backends.cudnn.deterministic = True
torch.backends.cudnn.benchmark = False
results, failed = {}, {}


def digest(x):
    if isinstance(x, (tuple, list)):
        return [digest(i) for i in x if i is not None]
    x = x.detach()
    if x.is_complex():
        x = torch.view_as_real(x)
    if x.is_sparse:
        x = x.to_dense()
    x = x.contiguous().reshape(-1)
    data = x.cpu().view(torch.uint8) if x.dtype != torch.bool else x.cpu().byte()
    return hashlib.sha256(data.numpy().tobytes()).hexdigest()[:16]


def op(name, fn):
    torch.manual_seed(1)
    try:
        results[name] = digest(fn())
    except Exception as e:  # noted, and compared like a result
        failed[name] = f"{type(e).__name__}: {str(e).splitlines()[0][:120]}"


def make(*shape, dtype=torch.float32, seed=0):
    g = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=g).to(dtype).cuda()


a, b = make(257, 129), make(257, 129, seed=1)
pos = a.abs() + 0.1
ints = (make(1000, seed=2) * 100).long()
square = make(96, 96, seed=3)
spd = square @ square.T + 96 * torch.eye(96, device="cuda")
img = make(4, 8, 33, 31, seed=4)

for name in ("sin cos tan exp expm1 log1p sqrt rsqrt abs neg sigmoid tanh erf erfc floor ceil round "
             "trunc sign reciprocal square lgamma digamma asinh atan sinh cosh erfinv log log2 log10 "
             "exp2 frac isnan isfinite logit i0 sinc").split():
    op(name, lambda f=getattr(torch, name): f(pos if name in ("log", "log2", "log10", "sqrt", "rsqrt",
                                                              "lgamma", "digamma") else a))
for name in "add sub mul div maximum minimum atan2 hypot fmod copysign eq lt ge logaddexp pow".split():
    op(name, lambda f=getattr(torch, name): f(pos if name == "pow" else a, b))
for name in "sum mean prod amax amin var std logsumexp cumsum cumprod argmax argmin norm all any".split():
    op(name, lambda f=getattr(torch, name):
       f(a, dim=1) if name in ("logsumexp", "cumsum", "cumprod") else f(a > 0) if name in ("all", "any")
       else f(a))
for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
    x, y = make(256, 256, dtype=dtype, seed=5), make(256, 256, dtype=dtype, seed=6)
    op(f"mm-{dtype}", lambda x=x, y=y: x @ y)
    op(f"softmax-{dtype}", lambda x=x: F.softmax(x, dim=-1))
    op(f"layer_norm-{dtype}", lambda x=x: F.layer_norm(x, (256,)))
    op(f"gelu-{dtype}", lambda x=x: F.gelu(x))
    op(f"sdpa-{dtype}", lambda x=x: F.scaled_dot_product_attention(*(3 * [x.view(4, 4, 64, 64)])))
op("sort", lambda: torch.sort(a, dim=1))
op("argsort", lambda: torch.argsort(a.flatten(), stable=True))
op("topk", lambda: torch.topk(a, 7))
op("unique", lambda: torch.unique(ints, return_counts=True))
op("bincount", lambda: torch.bincount(ints.abs()))
op("histc", lambda: torch.histc(a, 32))
op("gather", lambda: a.gather(1, ints[:257, None].abs() % 129))
op("index_select", lambda: a.index_select(0, ints.abs() % 257))
op("scatter", lambda: torch.zeros_like(a).scatter(1, ints[:257, None].abs() % 129, 1.0))
op("masked_select", lambda: a.masked_select(b > 0))
op("nonzero", lambda: (a > 1).nonzero())
op("where", lambda: torch.where(a > 0, a, b))
op("cat", lambda: torch.cat([a, b], 1))
op("roll", lambda: a.roll(3, 1))
op("flip", lambda: a.flip(0))
op("tril", lambda: square.tril())
op("kthvalue", lambda: torch.kthvalue(a, 5, dim=1))
op("median", lambda: a.median(dim=1))
op("mode", lambda: (a * 3).round().mode(dim=1))
op("searchsorted", lambda: torch.searchsorted(a[0].sort().values, b[0]))
op("qr", lambda: torch.linalg.qr(square))
op("cholesky", lambda: torch.linalg.cholesky(spd))
op("solve", lambda: torch.linalg.solve(spd, square))
op("inv", lambda: torch.linalg.inv(spd))
op("eigvalsh", lambda: torch.linalg.eigvalsh(spd))
op("svdvals", lambda: torch.linalg.svdvals(square))
op("det", lambda: torch.linalg.det(square / 10))
op("fft", lambda: torch.fft.fft(a))
op("rfft2", lambda: torch.fft.rfft2(a))
op("bmm", lambda: torch.bmm(make(8, 64, 64), make(8, 64, 64, seed=1)))
op("einsum", lambda: torch.einsum("ij,kj->ik", a, b))
op("conv2d", lambda: F.conv2d(img, make(16, 8, 3, 3, seed=7), padding=1))
op("conv_transpose2d", lambda: F.conv_transpose2d(img, make(8, 4, 3, 3, seed=8)))
op("max_pool2d", lambda: F.max_pool2d(img, 2))
op("avg_pool2d", lambda: F.avg_pool2d(img, 2))
op("adaptive_avg_pool2d", lambda: F.adaptive_avg_pool2d(img, 5))
op("interpolate", lambda: F.interpolate(img, scale_factor=2, mode="bilinear"))
op("grid_sample", lambda: F.grid_sample(img, make(4, 9, 9, 2, seed=9).tanh(), align_corners=False))
op("batch_norm", lambda: F.batch_norm(img, torch.zeros(8).cuda(), torch.ones(8).cuda()))
op("group_norm", lambda: F.group_norm(img, 4))
op("rms_norm", lambda: F.rms_norm(a, (129,)))
op("pixel_shuffle", lambda: F.pixel_shuffle(img, 2))
op("embedding", lambda: F.embedding(ints.abs() % 257, a))
op("embedding_bag", lambda: F.embedding_bag(ints.abs().view(10, 100) % 257, a, mode="mean"))
op("cross_entropy", lambda: F.cross_entropy(a, ints[:257].abs() % 129))
op("nll_loss", lambda: F.nll_loss(F.log_softmax(a, 1), ints[:257].abs() % 129))
op("smooth_l1", lambda: F.smooth_l1_loss(a, b))
op("ctc_loss", lambda: F.ctc_loss(make(50, 4, 20).log_softmax(2), (ints[:40].abs() % 19 + 1).view(4, 10),
                                  torch.full((4,), 50), torch.full((4,), 10)))
op("cdist", lambda: torch.cdist(a, b))
op("dropout", lambda: F.dropout(a, 0.5))
op("rand", lambda: torch.rand(1000, device="cuda"))
op("randn", lambda: torch.randn(1000, device="cuda"))
op("randperm", lambda: torch.randperm(1000, device="cuda"))
op("multinomial", lambda: torch.multinomial(a.softmax(1), 3))
op("bernoulli", lambda: torch.bernoulli(a.sigmoid()))
op("lstm", lambda: torch.nn.LSTM(32, 32).cuda()(make(5, 3, 32))[0])
op("attention", lambda: torch.nn.MultiheadAttention(32, 4).cuda()(*(3 * [make(5, 3, 32)]))[0])
op("sparse_mm", lambda: torch.sparse.mm(square.relu().to_sparse(), square))
op("to_int8", lambda: (a * 20).clamp(-127, 127).to(torch.int8))
op("to_fp8", lambda: a.to(torch.float8_e4m3fn).float())
op("bitwise", lambda: ints ^ (ints >> 3))


def backward(fn, *shape):
    x = make(*shape, seed=11).requires_grad_()
    fn(x).sum().backward()
    return x.grad


op("grad-softmax", lambda: backward(lambda x: F.softmax(x, 1).square(), 64, 64))
op("grad-layer_norm", lambda: backward(lambda x: F.layer_norm(x, (64,)).square(), 64, 64))
op("grad-gelu", lambda: backward(F.gelu, 64, 64))
op("grad-conv", lambda: backward(lambda x: F.conv2d(x, make(4, 4, 3, 3)).square(), 2, 4, 16, 16))
op("grad-cumsum", lambda: backward(lambda x: x.cumsum(1).square(), 64, 64))


def adam():
    w = make(64, 64).requires_grad_()
    opt = torch.optim.AdamW([w], fused=True)
    for _ in range(3):
        opt.zero_grad()
        (w.square().sum() + (w @ w).sum()).backward()
        opt.step()
    return w


op("adam", adam)
json.dump({"torch": torch.__version__, "file": torch.__file__, "import_s": imported,
           "first_launch_s": first_launch, "results": results, "failed": failed},
          open(sys.argv[1], "w"), indent=1)
print(f"{torch.__version__}: {len(results)} results, {len(failed)} failed, import {imported:.2f} s, "
      f"first launch {first_launch:.2f} s")

#!/usr/bin/env python3
"""The table the project grew out of: `size --style table` on the sgl-kernel 0.3.21 wheel.

Rows as its maintainers published them; row 1 and the missing group as they come out when every
name is demangled.  docs/format/size-table.md has the rule.
"""

import csv
import io
import re

import common

ROWS = """
void cutlass::device_kernel | 3892 | 677.54
void marlin_moe_wna16::Marlin | 720 | 370.32
void marlin::Marlin | 1080 | 292.63
void fast_hadamard_transform_kernel | 294 | 89.20
void flash::flash_fwd_sparse_kernel | 32 | 11.43
void cutlass::Kernel2 | 96 | 11.24
void per_token_group_quant_8bit_kernel | 196 | 8.82
void flashinfer::sampling::TopKTopPSamplingFromProbKernel | 40 | 7.54
void flashinfer::sampling::TopKSamplingFromProbKernel | 40 | 7.50
void cutlass::Kernel | 60 | 7.50
void router_gemm_kernel_bf16_output | 64 | 6.89
void router_gemm_kernel_float_output | 64 | 6.83
void mscclpp::executionKernel | 30 | 5.48
void moe_fused_gate_kernel | 24 | 3.51
void flashinfer::sampling::OnlineSoftmaxFusedKernel | 40 | 3.44
void topkGatingSigmoid | 54 | 3.43
void flashinfer::sampling::ChainSpeculativeSampling | 20 | 3.33
void flashinfer::sampling::TopPSamplingFromProbKernel | 20 | 3.28
void flashinfer::norm::FusedAddRMSNormKernel | 30 | 3.15
void topkGatingSoftmax | 54 | 3.03
void flashinfer::BatchQKApplyRotaryPosIdsCosSinCacheEnhancedKernel | 96 | 2.92
"""


def main():
    report = common.Report("oracle table")
    cuslim, wheel = common.cuslim(), common.wheel("sgl_kernel-0.3.21")
    common.need(report, cuslim=cuslim, wheel=wheel)
    base = [cuslim, "size", "--style", "table", "--no-wheel-bytes", "--top", "all"]
    _, out, _ = common.run([*base, "--format", "csv", wheel])
    rows = {row["prefix"]: row for row in csv.DictReader(io.StringIO(out.decode()))}
    _, text, _ = common.run([*base, wheel])
    for line in ROWS.strip().splitlines():
        prefix, count, size = (x.strip() for x in line.split("|"))
        row = rows.get(prefix, {})
        report.equal(prefix, "count, MB", (row.get("count"), row.get("mb")), (count, size))
    table = common.run_json([*base, "--format", "json", wheel])["table"]
    # 10,370 with the nine undefined ones (vprintf, __cuda_syscall_*), which have no bytes.
    report.equal("total", "functions", table["functions"], 10361)
    report.equal("total", "symbol_bytes", table["symbol_bytes"], 1714226704)
    first = r"^ *1 +void cutlass::device_kernel +3892 +677.54 "
    found = re.search(first, text.decode(), re.MULTILINE)
    report.equal("text", "first row", bool(found), True)
    report.finish()


main()

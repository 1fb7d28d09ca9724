// One of two translation units of a CUDA library; UNIT tells them apart.  With RDC the kernel of unit
// 1 calls a device function of unit 2, so that device linking is needed.
#include <stdint.h>

#include <stdexcept>
#include <string>

#ifdef RDC
extern __device__ uint32_t twist(uint32_t x);
#if UNIT == 2
__device__ uint32_t twist(uint32_t x) { return x * 2654435761u + 12345u; }
#endif
#else
static __device__ uint32_t twist(uint32_t x) { return x * 2654435761u + 12345u; }
#endif

template <int Unit>
__global__ void fill(uint32_t *out, uint32_t count) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        uint32_t x = i + Unit;
#pragma unroll
        for (int k = 0; k < 64; k++) {
            x = twist(x) ^ (x >> 3);
        }
        out[i] = x;
    }
}

static uint32_t expected(uint32_t i) {
    uint32_t x = i + UNIT;
    for (int k = 0; k < 64; k++) {
        x = (x * 2654435761u + 12345u) ^ (x >> 3);
    }
    return x;
}

__attribute__((noinline)) static void fail_deep(int depth, int code) {
    std::string held(64, 'x');
    if (depth == 0) {
        throw std::runtime_error(held + std::to_string(code));
    }
    fail_deep(depth - 1, code);
    held.clear();
}

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

// 0: launched, right results, exception caught.  100 + error: CUDA refused.  1, 2: wrong.
extern "C" __attribute__((visibility("default"))) int JOIN(unit, UNIT)() {
    const uint32_t count = 4096;
    bool caught = false;
    try {
        fail_deep(4, UNIT);
    } catch (const std::exception &e) {
        caught = std::string(e.what()).size() == 65;
    }
    if (!caught) {
        return 1;
    }
    uint32_t *out = nullptr;
    cudaError_t code = cudaMallocManaged(&out, count * sizeof *out);
    if (code == cudaSuccess) {
        fill<UNIT><<<count / 128, 128>>>(out, count);
        code = cudaGetLastError();
    }
    if (code == cudaSuccess) {
        code = cudaDeviceSynchronize();
    }
    int rc = code == cudaSuccess ? 0 : 100 + static_cast<int>(code);
    for (uint32_t i = 0; rc == 0 && i < count; i++) {
        rc = out[i] == expected(i) ? 0 : 2;
    }
    cudaFree(out);
    return rc;
}

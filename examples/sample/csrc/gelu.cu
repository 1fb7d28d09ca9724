// In the second, stripped library.  Uses local memory and a double-precision slow path.
#include "ops.h"

namespace sample {
__global__ void gelu_kernel(float *y, const float *x, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = 0.5f * x[i] * (1.0f + erff(x[i] * 0.70710678f));
    }
}
static __global__ void gelu_table_kernel(float *y, const float *x, int n) {
    float table[64];
    for (int i = 0; i < 64; i++) {
        table[i] = static_cast<float>(sin(static_cast<double>(i) * x[0]));
    }
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = table[static_cast<int>(x[i]) & 63];
    }
}
}  // namespace sample

extern "C" int sample_gelu(float *y, const float *x, int n) {
    if (n < 64) {
        sample::gelu_table_kernel<<<1, 64>>>(y, x, n);
    } else {
        sample::gelu_kernel<<<(n + 255) / 256, 256>>>(y, x, n);
    }
    return static_cast<int>(cudaGetLastError());
}

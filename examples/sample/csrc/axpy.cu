// Default compression: SASS is stored as it is, PTX compressed with zstd.
#include "ops.h"

namespace sample {
template <typename T, int Unroll>
__global__ void axpy_kernel(T *y, const T *x, T a, int n) {
    const int start = (blockIdx.x * blockDim.x + threadIdx.x) * Unroll;
#pragma unroll
    for (int i = 0; i < Unroll; i++) {
        if (start + i < n) {
            y[start + i] += a * x[start + i];
        }
    }
}
template __global__ void axpy_kernel<double, 1>(double *, const double *, double, int);
}  // namespace sample

extern "C" int sample_axpy(float *y, const float *x, float a, int n) {
    sample::axpy_kernel<float, 4><<<(n + 1023) / 1024, 256>>>(y, x, a, n);
    return static_cast<int>(cudaGetLastError());
}

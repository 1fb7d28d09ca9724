// Built with -lineinfo: the file name is in the entry header and in the line table.  LZ4.
#include "ops.h"

namespace {
constexpr int kThreads = 128;

__global__ void row_sum_kernel(float *out, const float *in, int cols) {
    __shared__ float partial[kThreads];
    float sum = 0.0f;
    for (int i = threadIdx.x; i < cols; i += kThreads) {
        sum += in[static_cast<long long>(blockIdx.x) * cols + i];
    }
    partial[threadIdx.x] = sum;
    __syncthreads();
    for (int half = kThreads / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            partial[threadIdx.x] += partial[threadIdx.x + half];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        out[blockIdx.x] = partial[0];
    }
}
}  // namespace

extern "C" int sample_row_sum(float *out, const float *in, int rows, int cols) {
    row_sum_kernel<<<rows, kThreads>>>(out, in, cols);
    return static_cast<int>(cudaGetLastError());
}

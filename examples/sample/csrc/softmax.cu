// Eight targets and two PTX versions in concatenated entries (fatbinary 13.4 and newer).
#include "ops.h"

namespace sample {
template <int Threads>
__global__ void softmax_kernel(float *out, const float *in, int cols) {
    __shared__ float shared[Threads];
    const float *row = in + static_cast<long long>(blockIdx.x) * cols;
    float *dst = out + static_cast<long long>(blockIdx.x) * cols;
    float best = -3.4e38f;
    for (int i = threadIdx.x; i < cols; i += Threads) {
        best = fmaxf(best, row[i]);
    }
    shared[threadIdx.x] = best;
    __syncthreads();
    for (int half = Threads / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            shared[threadIdx.x] = fmaxf(shared[threadIdx.x], shared[threadIdx.x + half]);
        }
        __syncthreads();
    }
    best = shared[0];
    __syncthreads();
    float sum = 0.0f;
    for (int i = threadIdx.x; i < cols; i += Threads) {
        sum += expf(row[i] - best);
    }
    shared[threadIdx.x] = sum;
    __syncthreads();
    for (int half = Threads / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            shared[threadIdx.x] += shared[threadIdx.x + half];
        }
        __syncthreads();
    }
    for (int i = threadIdx.x; i < cols; i += Threads) {
        dst[i] = expf(row[i] - best) / shared[0];
    }
}
}  // namespace sample

extern "C" int sample_softmax(float *out, const float *in, int rows, int cols) {
    sample::softmax_kernel<128><<<rows, 128>>>(out, in, cols);
    return static_cast<int>(cudaGetLastError());
}

// Relocatable device code: the kernel is here, the function it calls in bins.cu.
#include "ops.h"

__device__ int bin_of(unsigned char value);
__constant__ unsigned weights[4] = {1, 2, 3, 4};

__global__ void histogram_kernel(unsigned *bins, const unsigned char *data, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(&bins[bin_of(data[i])], weights[i & 3]);
    }
}

extern "C" int sample_histogram(unsigned *bins, const unsigned char *data, int n) {
    histogram_kernel<<<(n + 255) / 256, 256>>>(bins, data, n);
    return static_cast<int>(cudaGetLastError());
}

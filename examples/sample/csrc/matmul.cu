// Architecture and family targets (90a, 100f), everything compressed with zstd at its best.
#include "ops.h"

namespace sample {
template <typename T, int Tile>
__global__ void __launch_bounds__(Tile *Tile) matmul_kernel(T *c, const T *a, const T *b, int m,
                                                            int n, int k) {
    __shared__ T ta[Tile][Tile + 1], tb[Tile][Tile + 1];
    const int row = blockIdx.y * Tile + threadIdx.y, col = blockIdx.x * Tile + threadIdx.x;
    T sum = T(0);
    for (int step = 0; step < k; step += Tile) {
        const int ka = step + threadIdx.x, kb = step + threadIdx.y;
        ta[threadIdx.y][threadIdx.x] = row < m && ka < k ? a[row * k + ka] : T(0);
        tb[threadIdx.y][threadIdx.x] = kb < k && col < n ? b[kb * n + col] : T(0);
        __syncthreads();
#pragma unroll
        for (int i = 0; i < Tile; i++) {
            sum += ta[threadIdx.y][i] * tb[i][threadIdx.x];
        }
        __syncthreads();
    }
    if (row < m && col < n) {
        c[row * n + col] = sum;
    }
}
template __global__ void matmul_kernel<double, 16>(double *, const double *, const double *, int,
                                                   int, int);
}  // namespace sample

extern "C" int sample_matmul(float *c, const float *a, const float *b, int m, int n, int k) {
    const dim3 grid((n + 15) / 16, (m + 15) / 16), block(16, 16);
    sample::matmul_kernel<float, 16><<<grid, block>>>(c, a, b, m, n, k);
    return static_cast<int>(cudaGetLastError());
}

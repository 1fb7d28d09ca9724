// One of several files of a small library: a kernel of its own, and a check that launches it.
#define CONCAT2(a, b) a##b
#define CONCAT(a, b) CONCAT2(a, b)
#ifndef UNIT
#define UNIT 1
#endif
template <int N> __global__ void CONCAT(axpy, UNIT)(float *y, const float *x) {
    float sum = y[threadIdx.x];
#pragma unroll
    for (int i = 0; i < N; i++) {
        sum = sum * 1.0001f + x[threadIdx.x] * (float)UNIT;
    }
    y[threadIdx.x] = sum;
}

extern "C" int CONCAT(check_unit_, UNIT)() {
    float *d, h[64];
    for (int i = 0; i < 64; i++) {
        h[i] = (float)i;
    }
    if (cudaMalloc(&d, sizeof h) || cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice)) {
        return 1000;
    }
    CONCAT(axpy, UNIT)<64><<<1, 64>>>(d, d);
    CONCAT(axpy, UNIT)<512><<<1, 64>>>(d, d);
    const cudaError_t rc = cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    cudaFree(d);
    if (rc || cudaGetLastError()) {
        return 2000 + (int)rc;
    }
    return h[1] > 1.0f && h[63] > h[1] ? 0 : 3000;
}

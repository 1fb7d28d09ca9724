// The other half of the relocatable pair.
__device__ int edges[8] = {1, 2, 4, 8, 16, 32, 64, 128};

__device__ __noinline__ int bin_of(unsigned char value) {
    int bin = 0;
    while (bin < 8 && value >= edges[bin]) {
        bin++;
    }
    return bin;
}

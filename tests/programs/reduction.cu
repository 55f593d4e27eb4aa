// The sum of an array: each block of 256 threads adds its part to one number.
//
// nvcc compiles it for a device; g++ -x c++ compiles a function of the same name for the host.

#ifdef __CUDACC__
#include <cuda_runtime.h>

constexpr int kThreads = 256;

__global__ void add_parts(const double* in, double* out, long n) {
    __shared__ double parts[kThreads];
    double sum = 0;
    for (long at = blockIdx.x * kThreads + threadIdx.x; at < n; at += gridDim.x * kThreads) sum += in[at];
    parts[threadIdx.x] = sum;
    for (int half = kThreads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
    }
    if (threadIdx.x == 0) out[blockIdx.x] = parts[0];
}

extern "C" int sums(const double* in, double* out, long n, long blocks) {
    add_parts<<<blocks, kThreads>>>(in, out, n);
    return cudaGetLastError();
}
#else
extern "C" int sums(const double* in, double* out, long n, long blocks) {
    for (long block = 0; block < blocks; ++block) {
        out[block] = 0;
        for (long at = block; at < n; at += blocks) out[block] += in[at];
    }
    return 0;
}
#endif

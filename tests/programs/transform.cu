// One stage of a Fourier transform of complex numbers, by Stockham's method.
//
// nvcc compiles it for a device; g++ -x c++ compiles the same function for the host.

#include <cmath>

#ifdef __CUDACC__
#include <cuda_runtime.h>
#define BOTH __host__ __device__
#else
#define BOTH
#endif

struct Complex {
    float re, im;
};

// Stage `stride` (1, 2, 4, ...) of `n` elements makes two of them; there are n / 2 places.
BOTH static void butterfly(const Complex* in, Complex* out, long n, long stride, long place) {
    long lane = place % stride, group = place / stride;
    Complex a = in[lane + stride * group], b = in[lane + stride * group + n / 2];
    double angle = -2 * 3.14159265358979323846 * group * stride / n;
    float turn_re = cos(angle), turn_im = sin(angle);
    float re = a.re - b.re, im = a.im - b.im;
    out[lane + stride * 2 * group] = {a.re + b.re, a.im + b.im};
    out[lane + stride * (2 * group + 1)] = {re * turn_re - im * turn_im, re * turn_im + im * turn_re};
}

#ifdef __CUDACC__
__global__ void butterflies(const Complex* in, Complex* out, long n, long stride) {
    long place = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x;
    if (place < n / 2) butterfly(in, out, n, stride, place);
}

extern "C" int stage(const Complex* in, Complex* out, long n, long stride, void* stream) {
    auto queue = static_cast<cudaStream_t>(stream);
    butterflies<<<(n / 2 + 255) / 256, 256, 0, queue>>>(in, out, n, stride);
    return cudaGetLastError();
}
#else
extern "C" int stage(const Complex* in, Complex* out, long n, long stride, void*) {
    for (long place = 0; place < n / 2; ++place) butterfly(in, out, n, stride, place);
    return 0;
}
#endif

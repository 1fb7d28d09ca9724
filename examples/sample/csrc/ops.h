// Host entry points of the sample, one a source file.
#ifndef CUSLIM_SAMPLE_OPS_H
#define CUSLIM_SAMPLE_OPS_H

extern "C" {
int sample_axpy(float *y, const float *x, float a, int n);
int sample_row_sum(float *out, const float *in, int rows, int cols);
int sample_matmul(float *c, const float *a, const float *b, int m, int n, int k);
int sample_softmax(float *out, const float *in, int rows, int cols);
int sample_histogram(unsigned *bins, const unsigned char *data, int n);
int sample_gelu(float *y, const float *x, int n);
}

#endif

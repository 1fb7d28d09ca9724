// Loads each container named on the command line with the driver and runs its kernel `which`.
// Prints "NAME ID" or "NAME error CODE".  Needs libcuda only, opened at run time.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

typedef int CUresult;
#define FN(ret, name, ...) static ret (*name)(__VA_ARGS__)
FN(CUresult, cuInit, unsigned);
FN(CUresult, cuDeviceGet, int *, int);
FN(CUresult, cuDevicePrimaryCtxRetain, void **, int);
FN(CUresult, cuCtxSetCurrent, void *);
FN(CUresult, cuDriverGetVersion, int *);
FN(CUresult, cuLibraryLoadData, void **, const void *, void *, void **, unsigned, void *, void **,
   unsigned);
FN(CUresult, cuLibraryGetKernel, void **, void *, const char *);
FN(CUresult, cuLibraryUnload, void *);
FN(CUresult, cuKernelGetFunction, void **, void *);
FN(CUresult, cuMemAlloc, unsigned long long *, size_t);
FN(CUresult, cuMemsetD32, unsigned long long, unsigned, size_t);
FN(CUresult, cuMemcpyDtoH, void *, unsigned long long, size_t);
FN(CUresult, cuLaunchKernel, void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
   unsigned, void *, void **, void **);

static void *need(void *lib, const char *name) {
    void *p = dlsym(lib, name);
    if (!p) {
        fprintf(stderr, "no %s\n", name);
        exit(2);
    }
    return p;
}

static void *read_file(const char *path) {
    FILE *f = fopen(path, "rb");
    if (!f) {
        return NULL;
    }
    fseek(f, 0, SEEK_END);
    const long size = ftell(f);
    rewind(f);
    // The driver reads the size from the container's own header.
    void *p = aligned_alloc(64, ((size_t)size + 127) & ~(size_t)63);
    const size_t got = fread(p, 1, (size_t)size, f);
    fclose(f);
    return got == (size_t)size ? p : NULL;
}

// 0 and *id, or the driver's error.
static CUresult run_one(const void *container, unsigned long long out, int *id) {
    void *library, *kernel, *function;
    CUresult rc = cuLibraryLoadData(&library, container, NULL, NULL, 0, NULL, NULL, 0);
    if (rc) {
        return rc;
    }
    rc = cuLibraryGetKernel(&kernel, library, "which");
    if (!rc) {
        rc = cuKernelGetFunction(&function, kernel);
    }
    if (!rc) {
        void *args[] = {&out};
        cuMemsetD32(out, 0, 1);
        rc = cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL);
    }
    if (!rc) {
        rc = cuMemcpyDtoH(id, out, sizeof *id);
    }
    cuLibraryUnload(library);
    return rc;
}

int main(int argc, char **argv) {
    void *cuda = dlopen("libcuda.so.1", RTLD_NOW);
    if (!cuda) {
        fprintf(stderr, "%s\n", dlerror());
        return 2;
    }
#define GET(name, symbol) *(void **)&name = need(cuda, symbol)
    GET(cuInit, "cuInit");
    GET(cuDeviceGet, "cuDeviceGet");
    GET(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain");
    GET(cuCtxSetCurrent, "cuCtxSetCurrent");
    GET(cuDriverGetVersion, "cuDriverGetVersion");
    GET(cuLibraryLoadData, "cuLibraryLoadData");
    GET(cuLibraryGetKernel, "cuLibraryGetKernel");
    GET(cuLibraryUnload, "cuLibraryUnload");
    GET(cuKernelGetFunction, "cuKernelGetFunction");
    GET(cuMemAlloc, "cuMemAlloc_v2");
    GET(cuMemsetD32, "cuMemsetD32_v2");
    GET(cuMemcpyDtoH, "cuMemcpyDtoH_v2");
    GET(cuLaunchKernel, "cuLaunchKernel");
    void *context;
    int device, version;
    unsigned long long out;
    if (cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device) ||
        cuCtxSetCurrent(context) || cuDriverGetVersion(&version) || cuMemAlloc(&out, 4)) {
        fprintf(stderr, "no usable device\n");
        return 2;
    }
    printf("# driver CUDA %d\n", version);
    for (int i = 1; i < argc; i++) {
        void *container = read_file(argv[i]);
        int id = 0;
        const CUresult rc = container ? run_one(container, out, &id) : -1;
        if (rc) {
            printf("%s error %d\n", argv[i], rc);
        } else {
            printf("%s %d\n", argv[i], id);
        }
        free(container);
    }
    return 0;
}

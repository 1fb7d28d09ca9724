// Loads containers on a GPU through the driver and says which image ran.
//
//     load_containers FOLDER > record
//
// FOLDER is what make_containers wrote.  First lines: device, driver.  Then for each container its
// words, "=>", and either the tag that the kernel wrote or the first error with its step.  Needs
// libcuda.so.1 alone; the prototypes below are those of the CUDA driver API.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int CUresult;
typedef struct CUlib *CUlibrary;
typedef struct CUkern *CUkernel;
typedef struct CUctx *CUcontext;
typedef unsigned long long CUdeviceptr;

static struct {
    CUresult (*init)(unsigned);
    CUresult (*driver_version)(int *);
    CUresult (*device_get)(int *, int);
    CUresult (*attribute)(int *, int, int);
    CUresult (*retain)(CUcontext *, int);
    CUresult (*set_current)(CUcontext);
    CUresult (*library_load)(CUlibrary *, const void *, void *, void *, unsigned, void *, void *,
                             unsigned);
    CUresult (*library_unload)(CUlibrary);
    CUresult (*get_kernel)(CUkernel *, CUlibrary, const char *);
    CUresult (*launch)(CUkernel, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                       unsigned, void *, void **, void **);
    CUresult (*synchronize)(void);
    CUresult (*alloc)(CUdeviceptr *, size_t);
    CUresult (*copy_back)(void *, CUdeviceptr, size_t);
    CUresult (*copy_in)(CUdeviceptr, const void *, size_t);
} cu;

static void *symbol(void *lib, const char *name) {
    void *p = dlsym(lib, name);
    if (!p) {
        fprintf(stderr, "no %s in libcuda\n", name);
        exit(1);
    }
    return p;
}

static void need(CUresult r, const char *what) {
    if (r) {
        fprintf(stderr, "%s: error %d\n", what, r);
        exit(1);
    }
}

static CUdeviceptr start(void) {
    void *lib = dlopen("libcuda.so.1", RTLD_NOW);
    if (!lib) {
        fprintf(stderr, "no libcuda.so.1\n");
        exit(77);
    }
    const struct {
        void *slot;
        const char *name;
    } names[] = {
        {&cu.init, "cuInit"},
        {&cu.driver_version, "cuDriverGetVersion"},
        {&cu.device_get, "cuDeviceGet"},
        {&cu.attribute, "cuDeviceGetAttribute"},
        {&cu.retain, "cuDevicePrimaryCtxRetain"},
        {&cu.set_current, "cuCtxSetCurrent"},
        {&cu.library_load, "cuLibraryLoadData"},
        {&cu.library_unload, "cuLibraryUnload"},
        {&cu.get_kernel, "cuLibraryGetKernel"},
        {&cu.launch, "cuLaunchKernel"},
        {&cu.synchronize, "cuCtxSynchronize"},
        {&cu.alloc, "cuMemAlloc_v2"},
        {&cu.copy_back, "cuMemcpyDtoH_v2"},
        {&cu.copy_in, "cuMemcpyHtoD_v2"},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        void *p = symbol(lib, names[i].name);
        memcpy(names[i].slot, &p, sizeof p);
    }
    int device, major, minor, version;
    CUcontext context;
    CUdeviceptr out;
    need(cu.init(0), "cuInit");
    need(cu.device_get(&device, 0), "cuDeviceGet");
    need(cu.attribute(&major, 75, device), "compute capability");
    need(cu.attribute(&minor, 76, device), "compute capability");
    need(cu.driver_version(&version), "cuDriverGetVersion");
    need(cu.retain(&context, device), "context");
    need(cu.set_current(context), "context");
    need(cu.alloc(&out, sizeof(int)), "cuMemAlloc");
    printf("device %d.%d\ncuda %d.%d\nforce_ptx_jit %s\n", major, minor, version / 1000,
           version % 1000 / 10, getenv("CUDA_FORCE_PTX_JIT") ? "1" : "0");
    return out;
}

static void try_container(const char *path, const char *words, CUdeviceptr out) {
    static char bytes[1 << 22];
    FILE *f = fopen(path, "rb");
    if (!f) {
        fprintf(stderr, "%s: cannot open\n", path);
        exit(1);
    }
    const size_t size = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    int tag = -1;
    need(cu.copy_in(out, &tag, sizeof tag), "reset");
    CUlibrary library = NULL;
    CUkernel kernel;
    void *params[] = {&out};
    const char *step = "load";
    CUresult r = size ? cu.library_load(&library, bytes, NULL, NULL, 0, NULL, NULL, 0) : 1;
    if (!r) {
        step = "get";
        r = cu.get_kernel(&kernel, library, "which");
    }
    if (!r) {
        step = "launch";
        r = cu.launch(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL);
    }
    if (!r) {
        step = "run";
        r = cu.synchronize();
    }
    if (r) {
        printf("%s => error %d at %s\n", words, r, step);
    } else {
        need(cu.copy_back(&tag, out, sizeof tag), "result");
        printf("%s => tag %d\n", words, tag);
    }
    if (library) {
        (void)cu.library_unload(library);
    }
}

int main(int argc, char **argv) {
    char line[1024], path[2048];
    snprintf(path, sizeof path, "%s/list", argc > 1 ? argv[1] : ".");
    FILE *list = fopen(path, "r");
    if (!list) {
        fprintf(stderr, "%s: cannot open\n", path);
        return 1;
    }
    const CUdeviceptr out = start();
    while (fgets(line, sizeof line, list)) {
        char *words = strchr(line, '\t');
        if (words) {
            *words++ = '\0';
            words[strcspn(words, "\n")] = '\0';
            snprintf(path, sizeof path, "%s/%s", argc > 1 ? argv[1] : ".", line);
            try_container(path, words, out);
        }
    }
    fclose(list);
    return 0;
}

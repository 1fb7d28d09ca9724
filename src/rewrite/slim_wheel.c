#include "rewrite/slim_input.h"
enum cs_code cs_slim_run_wheel(const struct cs_slim_input *in, const struct cs_file *file, struct cs_slim_result *result, struct cs_err *err){return CS_INTERNAL;}
enum cs_code cs_slim_run_dir(const struct cs_slim_input *in, struct cs_slim_result *result, struct cs_err *err){return CS_INTERNAL;}

// Load: the inputs of a command, read into one inventory.
#ifndef CS_CLI_LOAD_H
#define CS_CLI_LOAD_H

#include "base/file.h"
#include "cli/cli.h"
#include "model/inventory.h"

// Reads every argument of the command.  `inv` is initialised here and always to be freed.
// Members that could not be read are warned about; see cs_cli_load_verdict.
enum cs_code cs_cli_load(struct cs_cli *cli, struct cs_inventory_options options,
                         struct cs_inventory *inv, struct cs_err *err) CS_MUST_USE;

// After the report is written: CS_OK, or CS_FORMAT when parts of the inputs were unreadable, or
// CS_UNSUPPORTED when an input holds Windows libraries and no Linux ones.
enum cs_code cs_cli_load_verdict(const struct cs_inventory *inv, struct cs_err *err) CS_MUST_USE;

// Opens the one input of a command when it is a saved report of ours: *is_report says so.  The file
// is to be closed either way it says; "-" is never one.
enum cs_code cs_cli_open_report(const struct cs_cli *cli, struct cs_file *file, bool *is_report,
                                struct cs_err *err) CS_MUST_USE;

#endif

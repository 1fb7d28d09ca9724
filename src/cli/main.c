// The program is a table of commands (cmd.c) and a frame that runs one of them (cli.c).
#include "cli/cli.h"

int main(int argc, char **argv) { return cs_cli_main(argc, argv); }

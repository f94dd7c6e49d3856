/* ckpt/compile_plan.c - what a compiler's command becomes: see compile_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ckpt/compile_plan.h"

#include <stddef.h>
#include <string.h>

static const char DEFAULT_OUTPUT[] = "a.out";

static bool is_one_of(const char *word, const char *const *words)
{
    for (size_t i = 0; words[i] != NULL; i++) {
        if (strcmp(word, words[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Returns whether an option means that no program is linked. */
static bool ends_early(const char *word, bool is_linker)
{
    static const char *const DRIVER[] = {"-c",
                                         "-S",
                                         "-E",
                                         "-M",
                                         "-MM",
                                         "-r",
                                         "-shared",
                                         "-fsyntax-only",
                                         "-###",
                                         "--version",
                                         "--help",
                                         "-Wl,-r",
                                         "-Wl,--relocatable",
                                         "-Wl,-shared",
                                         "--compile",
                                         "--assemble",
                                         "--preprocess",
                                         "--shared",
                                         NULL};
    static const char *const LINKER[] = {
        "-r",      "-i",        "-Ur",         "--relocatable", "-relocatable",
        "-shared", "--shared",  "-Bshareable", "--help",        "-v",
        "-V",      "--version", NULL};
    return is_one_of(word, is_linker ? LINKER : DRIVER);
}

/* Returns whether the word after an option belongs to it. */
static bool takes_another(const char *word)
{
    static const char *const OPTIONS[] = {"-o",          "--output",  "-x",
                                          "-I",          "-L",        "-D",
                                          "-U",          "-include",  "-imacros",
                                          "-isystem",    "-iquote",   "-T",
                                          "-u",          "-z",        "-idirafter",
                                          "-isysroot",   "-Xlinker",  "-B",
                                          "-MF",         "-MT",       "-MQ",
                                          "-Xassembler", "--param",   "-e",
                                          "-target",     "-aux-info", "-Xpreprocessor",
                                          "-m",          "-A",        "-dynamic-linker",
                                          "-rpath",      "-soname",   "-h",
                                          "-y",          "-Map",      NULL};
    return is_one_of(word, OPTIONS);
}

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static bool ends_with(const char *word, const char *end)
{
    size_t length = strlen(word), tail = strlen(end);
    return length >= tail && strcmp(word + length - tail, end) == 0;
}

/* ld, ld.bfd, ld.gold, ld.lld, mold, x86_64-linux-gnu-ld ... */
static bool is_linker(const char *command)
{
    static const char *const NAMES[] = {"ld",   "ld.bfd", "ld.gold", "ld.lld",
                                        "gold", "lld",    "mold",    NULL};
    const char *name = base_of(command);
    return is_one_of(name, NAMES) || ends_with(name, "-ld") || ends_with(name, "-ld.bfd") ||
           ends_with(name, "-ld.gold");
}

static const char *refuse_command(const char *command)
{
    static const char *const BUILDERS[] = {"make", "gmake", "cmake", "ninja", "meson", "sh",
                                           "bash", "dash",  "zsh",   "env",   NULL};
    static const char *const LIBTOOL[] = {"libtool", "ar", "ranlib", NULL};
    const char *name = base_of(command);
    return is_one_of(name, BUILDERS)  ? "runs other commands; give roost-compile each command of "
                                        "the compiler instead, as in make CC='roost-compile cc'"
           : is_one_of(name, LIBTOOL) ? "does not link a program"
                                      : NULL;
}

const char *compile_plan_read(int argc, const char *const *argv, struct compile_plan *ret)
{
    static const char OUTPUT[] = "--output=";
    bool has_input = false, ends = false, in_file = false;
    const char *why = argc < 1 ? "the command is missing" : refuse_command(argv[0]);
    if (why != NULL) {
        return why;
    }
    *ret = (struct compile_plan){.is_linker = is_linker(argv[0]), .output = DEFAULT_OUTPUT};
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if ((strcmp(word, "-o") == 0 || strcmp(word, "--output") == 0) && i + 1 < argc) {
            ret->output = argv[++i];
        } else if (strncmp(word, OUTPUT, sizeof OUTPUT - 1) == 0) {
            ret->output = word + sizeof OUTPUT - 1;
        } else if (strncmp(word, "-o", 2) == 0 && !ret->is_linker && word[2] != '\0') {
            ret->output = word + 2;
        } else if (takes_another(word)) {
            i++;
        } else if (ends_early(word, ret->is_linker)) {
            ends = true;
        } else if (word[0] != '-' || word[1] == '\0' || word[1] == 'l') {
            has_input = true;
            in_file = in_file || word[0] == '@';
        }
    }
    ret->links = has_input && !ends;
    ret->output = in_file && ret->output == DEFAULT_OUTPUT ? NULL : ret->output;
    return NULL;
}

static bool is_static(int argc, const char *const *argv)
{
    bool ret = false;
    for (int i = 0; i < argc; i++) {
        ret = ret || strcmp(argv[i], "-static") == 0 || strcmp(argv[i], "-static-pie") == 0;
    }
    return ret;
}

void compile_plan_fill(const struct compile_plan *plan, int argc, const char *const *argv,
                       const char *object, const char *remote, const char *include,
                       const char **ret)
{
    /* A static program's own glob(), which the wrapped one asks for. */
    static const char GLOB[] = "--undefined=__glob";
    bool asks = remote != NULL && is_static(argc, argv);
    const char *objects[] = {object, remote, asks ? GLOB : NULL, NULL};
    int count = 0;
    for (int i = 0; i < argc; i++) {
        ret[count++] = argv[i];
        for (int k = 0; i == 0 && plan->is_linker && plan->links && objects[k] != NULL; k++) {
            ret[count++] = objects[k];
        }
    }
    if (!plan->is_linker) {
        ret[count++] = "-I";
        ret[count++] = include;
    }
    for (int k = 0; !plan->is_linker && plan->links && objects[k] != NULL; k++) {
        ret[count++] = "-Xlinker";
        ret[count++] = objects[k];
    }
    ret[count] = NULL;
}

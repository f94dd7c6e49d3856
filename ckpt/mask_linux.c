/* ckpt/mask_linux.c - starts a program such that it does without features of this processor: see
 * mask_linux.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ckpt/mask_linux.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"

#define VALUE_MAX 4096 /* most bytes of a value, with the terminating zero */
#define FILE_MAX  ((off_t)4 << 20)

/* Of glibc's manual, "Hardware Capability Tunables"; names that a version does not know it passes
 * over. */
#define HWCAPS_V4 "-RTM,-AVX512ER,-AVX512PF,-FMA4,-XOP"
#define HWCAPS_V3 HWCAPS_V4 ",-AVX512F,-AVX512CD,-AVX512BW,-AVX512DQ,-AVX512VL"
#define HWCAPS_V2 \
    HWCAPS_V3 ",-AVX,-AVX2,-FMA,-F16C,-BMI1,-BMI2,-LZCNT,-MOVBE,-XSAVE,-XSAVEC,-OSXSAVE"
#define HWCAPS_V1 HWCAPS_V2 ",-POPCNT,-SSE4_2,-SSE4_1,-SSSE3,-SSE3"

/* Only those that numpy chooses at run time in all its versions: it refuses others. */
#define NUMPY_V3                                                               \
    "AVX512F AVX512CD AVX512_KNL AVX512_KNM AVX512_SKX AVX512_CLX AVX512_CNL " \
    "AVX512_ICL AVX512_SPR"
#define NUMPY_V2 "F16C FMA3 AVX2 " NUMPY_V3

struct level_words {
    const char *hwcaps, *numpy, *openblas, *onednn, *mkl;
};

static const struct level_words *words_of(enum machine_level level)
{
    static const struct level_words V1 = {HWCAPS_V1, NUMPY_V2, "Prescott", "SSE41", "SSE4_2"},
                                    V2 = {HWCAPS_V2, NUMPY_V2, "Nehalem", "SSE41", "SSE4_2"},
                                    V3 = {HWCAPS_V3, NUMPY_V3, "Haswell", "AVX2", "AVX2"},
                                    V4 = {HWCAPS_V4, "", "SkylakeX", "AVX512_CORE", "AVX512"};
    return level == MACHINE_V4 ? &V4 : level == MACHINE_V3 ? &V3 : level == MACHINE_V2 ? &V2 : &V1;
}

/* Sets NAME to its present value, the separator, and VALUE. */
static int add_value(const char *name, const char *separator, const char *value, struct err *err)
{
    char whole[VALUE_MAX];
    const char *before = getenv(name);
    bool has = before != NULL && before[0] != '\0';
    int length =
        snprintf(whole, sizeof whole, "%s%s%s", has ? before : "", has ? separator : "", value);
    if (length < 0 || (size_t)length >= sizeof whole) {
        return err_set(err, -E2BIG, "%s: its value in the environment is too long", name);
    }
    return setenv(name, whole, 1) != 0 ? err_set(err, -errno, "%s: %s", name, err_code_text(-errno))
                                       : 0;
}

static int set_value(const char *name, const char *value, struct err *err)
{
    return setenv(name, value, 1) != 0 ? err_set(err, -errno, "%s: %s", name, err_code_text(-errno))
                                       : 0;
}

/* OPENSSL_ia32cap(3): "~MASK:~MASK" takes features away; the low half of the first word is 1.edx,
 * of which each processor has what OpenSSL uses. */
static int tell_openssl(enum machine_level level, struct err *err)
{
    uint32_t words[MACHINE_WORDS];
    char value[64];
    for (size_t i = 0; i < MACHINE_WORDS; i++) {
        words[i] = ~0U;
    }
    machine_mask(words, level);
    (void)snprintf(value, sizeof value, "~0x%08x00000000:~0x%08x%08x",
                   (unsigned)~words[MACHINE_1_ECX], (unsigned)~words[MACHINE_7_ECX],
                   (unsigned)~words[MACHINE_7_EBX]);
    return set_value("OPENSSL_ia32cap", value, err);
}

int mask_environment(enum machine_level level, struct err *err)
{
    const struct level_words *words = words_of(level);
    char hwcaps[512];
    (void)snprintf(hwcaps, sizeof hwcaps, "glibc.cpu.hwcaps=%s", words->hwcaps);
    int rc = add_value("GLIBC_TUNABLES", ":", hwcaps, err);
    rc = rc != 0 ? rc : add_value("GODEBUG", ",", "cpu.all=off", err);
    rc = rc != 0 ? rc : set_value("LD_BIND_NOW", "1", err);
    rc = rc != 0 ? rc : tell_openssl(level, err);
    rc = rc != 0 || words->numpy[0] == '\0'
             ? rc
             : add_value("NPY_DISABLE_CPU_FEATURES", " ", words->numpy, err);
    rc = rc != 0 ? rc : set_value("OPENBLAS_CORETYPE", words->openblas, err);
    rc = rc != 0 ? rc : set_value("ONEDNN_MAX_CPU_ISA", words->onednn, err);
    rc = rc != 0 ? rc : set_value("MKL_ENABLE_INSTRUCTIONS", words->mkl, err);
    return rc != 0 ? rc : set_value(MASK_VARIABLE, machine_level_name(level), err);
}

int mask_as_told(struct err *err)
{
    const char *name = getenv(MASK_VARIABLE);
    enum machine_level level;
    if (name == NULL || name[0] == '\0') {
        return 0;
    }
    if (!machine_level_named(name, &level)) {
        return err_set(
            err, -EINVAL,
            "%s: unknown processor level '%s'; expected x86-64, x86-64-v2, x86-64-v3 or x86-64-v4",
            MASK_VARIABLE, name);
    }
    return mask_environment(level, err);
}

/* ---- in a file ------------------------------------------------------------------------------- */

/* Reads the whole file and adds a zero byte; the caller owns it. */
static int read_all(int fd, char **ret, size_t *ret_length)
{
    struct stat about;
    if (fstat(fd, &about) != 0) {
        return -errno;
    }
    if (about.st_size > FILE_MAX) {
        return -E2BIG;
    }
    size_t length = (size_t)about.st_size;
    char *text = mem_zalloc(length + 1);
    ssize_t got = pread(fd, text, length, 0);
    if (got != (ssize_t)length) {
        int code = got < 0 ? -errno : -EIO;
        mem_free(text);
        return code;
    }
    *ret = text;
    *ret_length = length;
    return 0;
}

static int write_all(int fd)
{
    struct strbuf text;
    strbuf_init(&text, 0);
    for (char **entry = environ; *entry != NULL; entry++) {
        strbuf_append(&text, *entry, strlen(*entry) + 1);
    }
    ssize_t put = pwrite(fd, strbuf_text(&text), text.length, 0);
    int code = put < 0 ? -errno : put != (ssize_t)text.length ? -EIO : 0;
    code = code == 0 && ftruncate(fd, (off_t)text.length) != 0 ? -errno : code;
    strbuf_fini(&text);
    return code;
}

/* Splits the text into entries, which stay in the text. */
static int take_entries(char *text, size_t length, struct err *err)
{
    for (size_t at = 0; at < length; at += strlen(text + at) + 1) {
        if (strchr(text + at, '=') != NULL && putenv(text + at) != 0) {
            return err_set(err, -errno, "cannot read the environment: %s", err_code_text(-errno));
        }
    }
    return 0;
}

int mask_file(const char *path, struct err *err)
{
    char *text = NULL, *none[] = {NULL}, **own = environ;
    size_t length = 0;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    int rc = fd >= 0 ? read_all(fd, &text, &length) : -errno;
    if (rc == 0) {
        environ = none; /* until it is written */
        int masked = take_entries(text, length, err);
        masked = masked != 0 ? masked : mask_as_told(err);
        rc = masked == 0 ? write_all(fd) : 0;
        environ = own;
        mem_free(text);
        if (masked != 0) {
            close(fd);
            return masked;
        }
    }
    if (fd >= 0) {
        close(fd);
    }
    return rc != 0 ? err_set(err, rc, "%s: %s", path, err_code_text(rc)) : 0;
}

/* tests/fuzz/fuzz_ckpt_pack.c - a packed file from strangers.
 *
 * Whatever it says, no more is written than was allowed, and what could be unpacked is what it was
 * packed from.
 *
 * LINK: ckpt base
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "ckpt/image/pack_linux.h"

#define MAX ((uint64_t)1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char name[64];
    struct stat stat;
    int out = memfd_create("out", MFD_CLOEXEC);
    (void)snprintf(name, sizeof name, "/tmp/fuzz_ckpt_pack.%d", (int)getpid());
    FILE *file = fopen(name, "we");
    if (out < 0 || file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0) {
        return 0;
    }
    int rc = unpack_into(name, out, "out", MAX, NULL);
    CHECK(fstat(out, &stat) == 0 && (uint64_t)stat.st_size <= MAX);
    CHECK(rc != 0 || pack_is_packed(name));
    (void)unlink(name);
    (void)close(out);
    return 0;
}

/* tests/fuzz/fuzz_ckpt_archive.c - two archives from strangers: one before, and what changed.
 *
 * The first four bytes say how long the one before is.  Whatever is in them, what comes of both is
 * no longer than they are, and can be joined with nothing that changed.
 *
 * LINK: ckpt base
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "ckpt/files/archive_linux.h"

#define END ((uint64_t)1024) /* two blocks */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int file_of(const uint8_t *data, size_t size)
{
    int fd = memfd_create("archive", MFD_CLOEXEC);
    CHECK(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint32_t first = 0;
    uint64_t bytes = 0;
    struct stat stat;
    if (size < sizeof first) {
        return 0;
    }
    memcpy(&first, data, sizeof first);
    data += sizeof first;
    size -= sizeof first;
    first = first < size ? first : (uint32_t)size;
    int before = file_of(data, first), changes = file_of(data + first, size - first);
    int out = memfd_create("out", MFD_CLOEXEC);
    CHECK(out >= 0);
    const struct archive_file files[] = {{before, "before"}, {changes, "changes"}, {out, "out"}};
    if (archive_merge(&files[0], &files[1], &files[2], size + END, &bytes, NULL) == 0) {
        CHECK(fstat(out, &stat) == 0 && (uint64_t)stat.st_size == bytes && bytes <= size + END);
    }
    (void)close(before);
    (void)close(changes);
    (void)close(out);
    return 0;
}

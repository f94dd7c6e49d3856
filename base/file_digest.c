/* base/file_digest.c - see file_digest.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/file_digest.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/os/os_below.h"

#define PIECE_BYTES ((size_t)256 << 10)

int file_digest_add(struct digest *digest, struct os_file *file, uint64_t *at, uint64_t end)
{
    char *piece = mem_alloc(PIECE_BYTES);
    ssize_t got = 1;
    while (*at < end && got > 0) {
        uint64_t left = end - *at;
        got = os_file_read(file, *at, piece, left < PIECE_BYTES ? (size_t)left : PIECE_BYTES);
        if (got > 0) {
            digest_update(digest, piece, (size_t)got);
            *at += (uint64_t)got;
        }
    }
    mem_free(piece);
    return got < 0 ? (int)got : 0;
}

int file_digest_below(struct os *os, const char *root, const char *path, char ret[DIGEST_HEX_SIZE],
                      struct err *err)
{
    struct os_file *file = NULL;
    uint64_t at = 0;
    int rc = os_below_open(os, root, path, OS_READ, 0, &file, err);
    if (rc != 0) {
        return rc;
    }
    struct digest *digest = digest_create();
    rc = file_digest_add(digest, file, &at, FILE_DIGEST_ALL);
    if (rc == 0) {
        digest_hex(digest, ret);
    } else {
        (void)err_set(err, rc, "%s/%s: %s", root, path, err_code_text(rc));
    }
    digest_destroy(digest);
    os_file_close(file);
    return rc;
}

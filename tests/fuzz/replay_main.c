/* tests/fuzz/replay_main.c - runs a fuzz target over its corpus, as an ordinary test.
 *
 * Linked with each tests/fuzz/fuzz_*.c where libFuzzer is not, so that every input that once broke
 * a parser is tried by every run of the suite.  An empty corpus is a failure: a test that reads
 * nothing tests nothing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INPUT_BYTES_MAX ((size_t)16 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay(const char *folder, const char *name)
{
    char path[4096];
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path) {
        (void)fprintf(stderr, "%s/%s: path too long\n", folder, name);
        return -1;
    }
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        (void)fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return -1;
    }
    (void)fprintf(stderr, "%s\n", path); /* the last line tells which input brought it down */
    int status = -1;
    size_t size = 0;
    uint8_t *exact = NULL;
    uint8_t *buffer = malloc(INPUT_BYTES_MAX);
    if (buffer == NULL) {
        goto out;
    }
    size = fread(buffer, 1, INPUT_BYTES_MAX, file);
    if (ferror(file) || !feof(file)) {
        (void)fprintf(stderr, "%s: not read to its end (over %zu bytes?)\n", path, INPUT_BYTES_MAX);
        goto out;
    }
    exact =
        malloc(size > 0 ? size : 1); /* exactly as long as the input: sanitizers see an overrun */
    if (exact == NULL) {
        goto out;
    }
    memcpy(exact, buffer, size);
    (void)LLVMFuzzerTestOneInput(exact, size);
    status = 0;
out:
    free(exact);
    free(buffer);
    (void)fclose(file);
    return status;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        (void)fprintf(stderr, "usage: %s CORPUS_FOLDER\n", argv[0]);
        return 2;
    }
    struct dirent **names = NULL;
    int count = scandir(argv[1], &names, NULL, alphasort);
    if (count < 0) {
        (void)fprintf(stderr, "%s: %s\n", argv[1], strerror(errno));
        return 1;
    }
    int replayed = 0;
    int failed = 0;
    for (int i = 0; i < count; i++) {
        if (names[i]->d_name[0] != '.') {
            replayed++;
            failed += replay(argv[1], names[i]->d_name) != 0;
        }
        free(names[i]);
    }
    free(names);
    if (replayed == 0) {
        (void)fprintf(stderr, "%s: the corpus is empty\n", argv[1]);
        return 1;
    }
    (void)printf("%d inputs replayed, %d could not be read\n", replayed, failed);
    return failed != 0;
}

/* sim/image_sim.c - images and archives of simulated jobs as bytes: see work_sim.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/strbuf.h"
#include "sim/sim_private.h"
#include "sim/work_sim.h"

#define SUM_LENGTH     21 /* "sum 0123456789abcdef\n" */
#define ARCHIVE_BEGIN  "simulated archive\n"
#define ARCHIVE_END    "end\n"
#define FEATURES_PATH  "/etc/sim/features"
#define FNV_BASIS      UINT64_C(14695981039346656037)
#define FNV_PRIME      UINT64_C(1099511628211)
#define FILE_NAMES_MAX 512 /* most bytes of a file's name, with the terminating zero */

/* ---- images ---------------------------------------------------------------------------------- */

uint64_t sim_image_done_us(const struct sim_image *image)
{
    return (image->done + UINT64_C(1)) * SIM_STEP_US - image->rest_us;
}

/* The FNV-1a hash of 64 bits (Fowler, Noll, Vo). */
static uint64_t sum_of(const unsigned char *data, size_t length)
{
    uint64_t sum = FNV_BASIS;
    for (size_t i = 0; i < length; i++) {
        sum = (sum ^ data[i]) * FNV_PRIME;
    }
    return sum;
}

void sim_image_encode(const struct sim_image *image, struct strbuf *ret)
{
    strbuf_printf(ret,
                  "#!/sim/" SIM_IMAGE_PROGRAM "\nid %016" PRIx64 " base %016" PRIx64
                  "\njob %u steps %u done %u rest %" PRIu64 " status %u\nout %s offset %" PRIu64
                  "\nfeatures %s\nbytes %zu\n",
                  image->id, image->base_id, image->number, image->steps, image->done,
                  image->rest_us, image->status, image->out, image->offset,
                  image->features[0] != '\0' ? image->features : "-", image->bytes);
    uint64_t word = image->id;
    while (ret->length + SUM_LENGTH < image->bytes) {
        size_t left = image->bytes - ret->length - SUM_LENGTH;
        word = word * UINT64_C(6364136223846793005) + 1;
        strbuf_append(ret, &word, left < sizeof(word) ? left : sizeof(word));
    }
    uint64_t sum = sum_of((const unsigned char *)ret->data, ret->length);
    strbuf_printf(ret, "sum %016" PRIx64 "\n", sum);
}

bool sim_image_decode(const void *data, size_t length, struct sim_image *ret)
{
    char head[600], last[SUM_LENGTH + 1];
    struct sim_image image = {.id = 0};
    uint64_t sum = 0;
    if (data == NULL || length < SUM_LENGTH) {
        return false;
    }
    size_t there = length < sizeof(head) - 1 ? length : sizeof(head) - 1;
    memcpy(head, data, there);
    head[there] = '\0';
    memcpy(last, (const char *)data + length - SUM_LENGTH, SUM_LENGTH);
    last[SUM_LENGTH] = '\0';
    if (sscanf(head,
               "#!/sim/" SIM_IMAGE_PROGRAM " id %" SCNx64 " base %" SCNx64
               " job %u steps %u done %u rest %" SCNu64 " status %u out %199s offset %" SCNu64
               " features %63s bytes %zu",
               &image.id, &image.base_id, &image.number, &image.steps, &image.done, &image.rest_us,
               &image.status, image.out, &image.offset, image.features, &image.bytes) != 11 ||
        sscanf(last, "sum %" SCNx64, &sum) != 1 || sum != sum_of(data, length - SUM_LENGTH)) {
        return false;
    }
    if (strcmp(image.features, "-") == 0) {
        image.features[0] = '\0';
    }
    image.bytes = length;
    *ret = image;
    return true;
}

/* ---- machines -------------------------------------------------------------------------------- */

const char *sim_host_features(struct sim_host *host)
{
    const char *text = sim_file_get(host, FEATURES_PATH, NULL);
    return text != NULL ? text : "";
}

void sim_host_set_features(struct sim_host *host, const char *features)
{
    sim_file_put(host, FEATURES_PATH, features, strlen(features), 0644);
}

bool sim_features_suit(const char *wanted, const char *there)
{
    char word[70], list[80];
    (void)snprintf(list, sizeof(list), ",%s,", there);
    while (*wanted != '\0') {
        int length = (int)strcspn(wanted, ",");
        (void)snprintf(word, sizeof(word), ",%.*s,", length, wanted);
        if (strstr(list, word) == NULL) {
            return false;
        }
        wanted += length;
        wanted += *wanted == ',' ? 1 : 0;
    }
    return true;
}

/* ---- archives -------------------------------------------------------------------------------- */

static void add_node(const struct sim_node *node, const char *as, struct strbuf *ret)
{
    char name[FILE_NAMES_MAX];
    for (size_t i = 0; i < node->child_count; i++) {
        const struct sim_node *child = node->children[i];
        if (strcmp(child->name, ".job.ad") == 0 || strcmp(child->name, ".machine.ad") == 0) {
            continue; /* the starter's, of this run */
        }
        (void)snprintf(name, sizeof(name), "%s/%s", as, child->name);
        add_node(child, name, ret);
    }
    if (node->type == SIM_FILE) {
        strbuf_printf(ret, "%s %zu %o\n", as, node->size, (unsigned)node->mode);
        strbuf_append(ret, node->size > 0 ? (const char *)node->data : "", node->size);
    }
}

void sim_archive_add(struct sim_host *host, const char *path, const char *as, struct strbuf *ret)
{
    const struct sim_node *node = sim_tree_find(host, path);
    if (ret->length == 0) {
        strbuf_puts(ret, ARCHIVE_BEGIN);
    }
    if (node != NULL) {
        add_node(node, as, ret);
    }
}

void sim_archive_end(struct strbuf *ret)
{
    strbuf_puts(ret, ARCHIVE_END);
}

bool sim_archive_walk(const void *data, size_t length, sim_archive_f each, void *arg)
{
    const char *at = data;
    const size_t begin = sizeof(ARCHIVE_BEGIN) - 1, last = sizeof(ARCHIVE_END) - 1;
    if (at == NULL || length < begin + last || memcmp(at, ARCHIVE_BEGIN, begin) != 0) {
        return false;
    }
    const char *end = at + length;
    at += begin;
    for (;;) {
        const char *line = memchr(at, '\n', (size_t)(end - at));
        char name[FILE_NAMES_MAX], text[FILE_NAMES_MAX + 40];
        size_t size = 0;
        unsigned mode = 0;
        if (line == NULL || (size_t)(line - at) >= sizeof(text)) {
            return false;
        }
        if ((size_t)(end - at) == last && memcmp(at, ARCHIVE_END, last) == 0) {
            return true;
        }
        (void)snprintf(text, sizeof(text), "%.*s", (int)(line - at), at);
        at = line + 1;
        if (sscanf(text, "%511s %zu %o", name, &size, &mode) != 3 || size > (size_t)(end - at) ||
            each(arg, name, (mode_t)mode, at, size) != 0) {
            return false;
        }
        at += size;
    }
}

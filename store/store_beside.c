/* store/store_beside.c - see store_beside.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/store_beside.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/strbuf.h"

#define WITNESS           ".witness"
#define WITNESS_BYTES_MAX 4096
#define WITNESS_FORMAT \
    "roost-store-witness 1\ndaemon %s\nversion %d\nhigh_water %" PRId64 "\ntables"
#define WITNESS_READ "roost-store-witness 1 daemon %63s version %d high_water %" SCNd64 " tables %n"
/* A second part, which older programs do not read and do not write. */
#define MARKS_FORMAT "\ngeneration %" PRId64 "\nstate %s\n"
#define MARKS_READ   " generation %" SCNd64 " state %15s"
#define RESERVE      ".reserve"
#define PROBE        ".probe"

static char *name_beside(const char *path, const char *suffix)
{
    struct strbuf name;
    strbuf_init(&name, 0);
    strbuf_printf(&name, "%s%s", path, suffix);
    return strbuf_take(&name);
}

/* Splits the names of tables, which blanks divide. */
static bool take_tables(struct store_witness *witness, const char *text)
{
    size_t length = strcspn(text, "\n"), count = 0;
    if (length >= sizeof(witness->names)) {
        return false;
    }
    memcpy(witness->names, text, length);
    witness->names[length] = '\0';
    for (char *at = witness->names; *at != '\0';) {
        if (count == STORE_TABLES_MAX) {
            return false;
        }
        witness->tables[count++] = at;
        at += strcspn(at, " ");
        while (*at == ' ') {
            *at++ = '\0';
        }
    }
    witness->tables[count] = NULL;
    return count > 0;
}

static bool take_marks(struct store_marks *marks, const char *text)
{
    char state[16] = "closed";
    if (text[strspn(text, "\n")] == '\0') {
        return true; /* of an older program */
    }
    const int count = sscanf(text, MARKS_READ, &marks->generation, state);
    marks->is_open = strcmp(state, "open") == 0;
    return count == 2 && marks->generation >= 0 && (marks->is_open || strcmp(state, "closed") == 0);
}

static bool take_witness(struct store_witness *witness, const char *text)
{
    int used = 0;
    return sscanf(text, WITNESS_READ, witness->daemon, &witness->version,
                  &witness->marks.high_water, &used) == 3 &&
           used > 0 && witness->marks.high_water >= 0 && witness->version > 0 &&
           take_tables(witness, text + used) &&
           take_marks(&witness->marks, text + used + strcspn(text + used, "\n"));
}

int store_witness_read(struct os *os, const char *path, struct store_witness *ret, struct err *err)
{
    char *name = name_beside(path, WITNESS), *text = NULL;
    size_t length = 0;
    *ret = (struct store_witness){.present = false};
    int code = os_read_file(os, name, WITNESS_BYTES_MAX, &text, &length, err);
    if (code == -ENOENT) {
        code = 0;
    } else if (code == 0 && !take_witness(ret, text)) {
        code = err_set(err, -EUCLEAN,
                       "store %s: %s, which says that there is a store, is damaged; if the store "
                       "itself is there, remove %s and start the daemon again",
                       path, name, name);
    } else if (code == 0) {
        ret->present = true;
    }
    mem_free(text);
    mem_free(name);
    return code;
}

int store_witness_write(struct os *os, const char *path, const struct store_schema *schema,
                        const struct store_marks *marks, struct err *err)
{
    char *name = name_beside(path, WITNESS);
    struct strbuf text;
    strbuf_init(&text, 0);
    strbuf_printf(&text, WITNESS_FORMAT, schema->daemon, schema->version, marks->high_water);
    for (size_t i = 0; schema->tables[i] != NULL; i++) {
        strbuf_printf(&text, " %s", schema->tables[i]);
    }
    strbuf_printf(&text, MARKS_FORMAT, marks->generation, marks->is_open ? "open" : "closed");
    int code = os_write_file(os, name, strbuf_text(&text), text.length, 0600, true, err);
    strbuf_fini(&text);
    mem_free(name);
    return code;
}

int store_witness_holds(struct os *os, const char *path, struct err *err)
{
    struct os_stat st;
    int code = os_stat(os, path, &st);
    if (code != 0 && code != -ENOENT) {
        return err_set(err, code, "store %s: %s", path, err_code_text(code));
    }
    if (code == 0 && st.size_bytes > 0) {
        return 0;
    }
    return err_set(err, -EUCLEAN,
                   "store %s: the file is %s, but %s" WITNESS " says that there was a store here; "
                   "it was not replaced by an empty one.  If its disk is not mounted, mount it; "
                   "else restore the file from a backup, or, to begin with nothing on purpose: "
                   "roost store import --empty %s",
                   path, code == 0 ? "empty" : "missing", path, path);
}

/* Returns whether there is a file with more than no bytes, or a directory. */
static bool is_there(struct os *os, const char *name)
{
    struct os_stat st;
    return os_stat(os, name, &st) == 0 && (st.is_dir || st.size_bytes > 0);
}

int store_refuse_remains(struct os *os, const char *path, const char *remains, struct err *err)
{
    static const char *const SUFFIXES[] = {RESERVE, "-wal", "-shm"};
    const char *slash = strrchr(path, '/');
    char *found = NULL;
    struct os_stat st;
    if (os_stat(os, path, &st) != -ENOENT) {
        return 0;
    }
    for (size_t i = 0; found == NULL && i < sizeof(SUFFIXES) / sizeof(SUFFIXES[0]); i++) {
        char *name = name_beside(path, SUFFIXES[i]);
        if (is_there(os, name)) {
            found = name;
        } else {
            mem_free(name);
        }
    }
    if (found == NULL && remains != NULL) {
        struct strbuf name;
        strbuf_init(&name, 0);
        strbuf_printf(&name, "%.*s%s", slash != NULL ? (int)(slash - path + 1) : 0, path, remains);
        found = strbuf_take(&name);
        if (!is_there(os, found)) {
            mem_free(found);
            found = NULL;
        }
    }
    if (found == NULL) {
        return 0;
    }
    (void)err_set(err, -EUCLEAN,
                  "store %s: the file and its witness are missing, but %s says that there was a "
                  "store here; it was not replaced by an empty one.  If its disk is not mounted, "
                  "mount it; else restore both files from a backup, or, to begin with nothing on "
                  "purpose: roost store import --empty %s",
                  path, found, path);
    mem_free(found);
    return -EUCLEAN;
}

bool store_disk_is_read_only(struct os *os, const char *path)
{
    char *name = name_beside(path, PROBE);
    int code = os_write_file(os, name, "", 0, 0600, false, NULL);
    if (code == 0) {
        (void)os_remove(os, name, NULL); /* an empty file would do no harm */
    }
    mem_free(name);
    return code == -EROFS;
}

int store_reserve_make(struct os *os, const char *path, int64_t bytes, struct err *err)
{
    char *name = name_beside(path, RESERVE);
    struct os_stat st;
    struct os_file *file = NULL;
    int code = 0;
    if (os_stat(os, name, &st) != 0 || st.size_bytes != bytes) {
        code = os_file_open(os, name, OS_WRITE_TRUNCATE, 0600, &file, err);
    }
    if (file != NULL) {
        code = os_file_allocate(file, (uint64_t)bytes);
        os_file_close(file);
        if (code != 0) {
            (void)os_remove(os, name, NULL); /* a part of it helps nobody */
            code = err_set(err, code, "%s: cannot take %" PRId64 " bytes of the disk: %s", name,
                           bytes, err_code_text(code));
        }
    }
    mem_free(name);
    return code;
}

bool store_reserve_drop(struct os *os, const char *path)
{
    char *name = name_beside(path, RESERVE);
    struct os_stat st;
    bool dropped = os_stat(os, name, &st) == 0 && os_remove(os, name, NULL) == 0;
    mem_free(name);
    return dropped;
}

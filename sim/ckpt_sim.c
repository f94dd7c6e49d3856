/* sim/ckpt_sim.c - roost-ckpt, and the tar that unpacks its archives, for the jobs of work_sim.h.
 *
 * `run` is the job itself.  `dump` looks at the job in one moment, then writes image and archive in
 * pieces; between two pieces the dump, the job or the machine may die.  `follow` remembers which
 * image was the last; `dump --through` then writes what changed since.  `merge` and `probe` are
 * done in one step, because daemons wait for them.  Nothing is compressed: an image that cannot be
 * compressed is valid, too.  The output is that of the real program: attributes, or a line with the
 * reason of a failure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "sim/sim_private.h"
#include "sim/work_sim.h"

#define FAILED       1
#define USAGE        2
#define UNSUITED     3
#define LOOK_MIN_US  (2 * SIM_MS) /* until the job is stopped */
#define LOOK_MAX_US  (300 * SIM_MS)
#define PIECE        ((size_t)16 << 10)
#define PIECE_MAX_US (60 * SIM_MS)  /* for writing one piece */
#define OTHER_MAX_US (400 * SIM_MS) /* for unpack, info and tar */
#define BYTES_MIN    700
#define BYTES_MAX    60000
#define LARGE_MAX    2500000 /* bytes; more than one piece of a transfer */
#define LARGE        30      /* per mille of images that are large */
/* per mille of the possible deltas; otherwise most pages have changed */
#define DELTAS        800
#define DIRECTORIES   8
#define SAID_PLATFORM "LINUX x86_64 6.1.0-sim"

static int say_failed(struct sim_process *process, const char *text)
{
    sim_say(process, "roost-ckpt: %s\n", text);
    return FAILED;
}

static void say_image(const struct sim_image *image, struct strbuf *said)
{
    strbuf_printf(said, "CkptImageSize = %zu\nCkptImageId = \"%016" PRIx64 "\"\n", image->bytes,
                  image->id);
    if (image->base_id != 0) {
        strbuf_printf(said, "CkptBaseId = \"%016" PRIx64 "\"\n", image->base_id);
    }
    strbuf_printf(said, "LastCheckpointPlatform = \"" SAID_PLATFORM "\"\nCkptFeatures = \"%s\"\n",
                  image->features);
}

/* ---- dump ------------------------------------------------------------------------------------ */

struct dump {
    struct sim_process *process;
    struct loop_timer *timer;
    pid_t pid;
    bool kills;
    const char *through, *paths[2]; /* paths[]: the image and the archive */
    uint64_t base_id;
    const char *of[DIRECTORIES], *as[DIRECTORIES]; /* of[] go into the archive as as[] */
    size_t of_count;
    struct sim_image image;
    struct strbuf bytes[2], said;
    size_t file_at, offset;
};

struct follower {
    pid_t pid;
    uint64_t last_id; /* the last image's id; 0: it has made none */
};

static int follow_start(const struct sim_env *env, void **state);
static int dump_start(const struct sim_env *env, void **state);

static bool is_follower(const struct sim_process *process)
{
    return process->program == &sim_program_ckpt && process->argc > 2 && process->started &&
           strcmp(process->argv[1], "follow") == 0;
}

/* Finds the process that follows the same job and works in the same directory as the dump; NULL:
 * none, or the dump has no --through. */
static struct follower *find_follower(const struct dump *dump)
{
    const struct sim_link *head = &dump->process->host->processes;
    for (struct sim_link *at = head->next; at != head && dump->through != NULL; at = at->next) {
        const struct sim_process *process = at->item;
        if (is_follower(process) && strcmp(process->cwd, dump->process->cwd) == 0 &&
            ((struct follower *)process->state)->pid == dump->pid) {
            return process->state;
        }
    }
    return NULL;
}

static uint64_t new_id(struct sim *sim)
{
    return rng_next(sim_rng(sim)) | 1;
}

static size_t new_size(struct sim *sim)
{
    return (size_t)sim_between(sim, BYTES_MIN, sim_chance(sim, LARGE) ? LARGE_MAX : BYTES_MAX);
}

static void archive_files(struct dump *dump)
{
    char path[SIM_PATH_MAX];
    for (size_t i = 0; i < dump->of_count; i++) {
        if (sim_path(dump->process->cwd, dump->of[i], path)) {
            sim_archive_add(dump->process->host, path, dump->as[i], &dump->bytes[1]);
        }
    }
    sim_archive_end(&dump->bytes[1]);
}

static void dump_ends(struct dump *dump, const char *why)
{
    loop_stop(&dump->process->loop, why != NULL ? say_failed(dump->process, why) : 0);
}

/* Takes the state of the job in this moment, for image and archive. */
static void look_at_job(struct dump *dump)
{
    struct sim_process *process = dump->process;
    struct sim *sim = process->sim;
    const struct sim_process *job = sim_process_find(process->host, dump->pid);
    struct follower *follower = find_follower(dump);
    if (job == NULL || !sim_work_look(job, &dump->image)) {
        dump_ends(dump, "the process runs no job");
        return;
    }
    uint64_t last_id = follower != NULL ? follower->last_id : 0;
    bool changes = last_id != 0 && last_id == dump->base_id && sim_chance(sim, DELTAS);
    dump->image.id = new_id(sim);
    dump->image.base_id = changes ? last_id : 0;
    dump->image.bytes = new_size(sim) / (changes ? 4 : 1);
    if (follower != NULL) {
        follower->last_id = dump->image.id;
    }
    sim_image_encode(&dump->image, &dump->bytes[0]);
    dump->image.bytes = dump->bytes[0].length;
    archive_files(dump);
    strbuf_printf(&dump->said, "CkptStoodStill = 0.02\nLastCkptTime = %" PRId64 "\n",
                  sim_host_wall_ms(process->host) / 1000);
    say_image(&dump->image, &dump->said);
    strbuf_printf(&dump->said, "CkptFilesSize = %zu\n", dump->bytes[1].length);
    SIM_TELL(sim, image_made, process, job, &dump->image);
}

static void part_path(const struct dump *dump, char out[SIM_PATH_MAX])
{
    (void)snprintf(out, SIM_PATH_MAX, "%s%s", dump->paths[dump->file_at],
                   dump->file_at == 0 ? ".part" : "");
}

static int write_piece(struct dump *dump, struct err *err)
{
    struct os *os = &dump->process->os;
    const struct strbuf *bytes = &dump->bytes[dump->file_at];
    size_t left = bytes->length - dump->offset, piece = left < PIECE ? left : PIECE;
    char path[SIM_PATH_MAX];
    struct os_file *file = NULL;
    part_path(dump, path);
    int rc =
        os_file_open(os, path, dump->offset == 0 ? OS_WRITE_TRUNCATE : OS_WRITE, 0700, &file, err);
    if (rc != 0) {
        return rc;
    }
    rc = os_file_write(file, dump->offset, bytes->data + dump->offset, piece);
    rc = rc != 0 ? err_set(err, rc, "%s: %s", path, err_code_text(rc)) : 0;
    os_file_close(file);
    dump->offset += piece;
    if (rc == 0 && dump->offset == bytes->length) {
        rc = dump->file_at == 0 ? os_rename(os, path, dump->paths[0], false, err) : 0;
        dump->file_at++;
        dump->offset = 0;
    }
    return rc;
}

static void dump_tick(void *arg)
{
    struct dump *dump = arg;
    struct sim *sim = dump->process->sim;
    struct err err = {""};
    if (dump->bytes[0].length == 0) {
        look_at_job(dump);
    } else if (dump->file_at < 2 && write_piece(dump, &err) != 0) {
        dump_ends(dump, err.text);
    } else if (dump->file_at == 2) {
        struct sim_process *job = sim_process_find(dump->process->host, dump->pid);
        if (dump->kills && job != NULL) {
            sim_process_signal(job, SIGKILL);
        }
        sim_say(dump->process, "%s", strbuf_text(&dump->said));
        dump_ends(dump, NULL);
    }
    if (!dump->process->loop.stopping) {
        loop_timer_set(dump->timer, sim_between(sim, 0, PIECE_MAX_US) / SIM_MS);
    }
}

/* Reads --transform=flags=rhS;s,^NAME\(/\|$\),TO\1, into NAME and TO, which are cut out of the
 * word. */
static bool read_transform(char *word, const char **name, const char **to)
{
    char *begin = strstr(word, "s,^");
    char *middle = begin != NULL ? strstr(begin, "\\(/\\|$\\),") : NULL;
    char *end = middle != NULL ? strstr(middle, "\\1,") : NULL;
    if (end == NULL) {
        return false;
    }
    *middle = *end = '\0';
    *name = begin + 3;
    *to = middle + 9;
    return true;
}

/* Reads the arguments for tar, which follow "--". */
static void read_tar(struct dump *dump, char *const *argv, int argc)
{
    bool creates = false;
    for (int i = 0; i < argc; i++) {
        const char *name, *to;
        if (strcmp(argv[i], "--create") == 0) {
            creates = true;
        } else if (strncmp(argv[i], "--transform=", 12) == 0 && dump->of_count < DIRECTORIES &&
                   read_transform(argv[i], &name, &to)) {
            dump->of[dump->of_count] = name;
            dump->as[dump->of_count++] = to;
        } else if (creates && argv[i][0] != '-' && strchr(argv[i], '/') != NULL) {
            for (size_t k = 0; k < dump->of_count; k++) { /* one file of a directory */
                size_t length = strlen(dump->of[k]);
                if (strncmp(argv[i], dump->of[k], length) == 0 && argv[i][length] == '/') {
                    struct strbuf as;
                    strbuf_init(&as, 0);
                    strbuf_printf(&as, "%s%s", dump->as[k], argv[i] + length);
                    dump->of[k] = argv[i];
                    dump->as[k] = strbuf_take(&as);
                    strbuf_fini(&as);
                }
            }
        }
    }
}

static void read_words(struct dump *dump, char *const *argv, int argc)
{
    dump->paths[0] = argv[3];
    for (int i = 4; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--kill") == 0) {
            dump->kills = true;
        } else if (strcmp(argv[i], "--with") == 0) {
            dump->paths[1] = value;
        } else if (strcmp(argv[i], "--through") == 0) {
            dump->through = value;
        } else if (strcmp(argv[i], "--base") == 0) {
            dump->base_id = strtoull(value, NULL, 16);
        } else if (strcmp(argv[i], "--") == 0) {
            read_tar(dump, argv + i + 1, argc - i - 1);
            return;
        }
    }
}

static int dump_start(const struct sim_env *env, void **state)
{
    struct sim_process *process = env->process;
    const struct sim_temper *temper = &process->host->temper;
    struct dump *dump = mem_zalloc(sizeof(*dump));
    *state = dump;
    dump->process = process;
    dump->pid = env->argc > 3 ? (pid_t)strtol(env->argv[2], NULL, 10) : 0;
    strbuf_init(&dump->bytes[0], 0);
    strbuf_init(&dump->bytes[1], 0);
    strbuf_init(&dump->said, 0);
    if (env->argc > 3) {
        read_words(dump, env->argv, env->argc);
    }
    if (dump->pid <= 0 || dump->paths[1] == NULL || dump->of_count == 0) {
        (void)say_failed(process, "usage");
        return USAGE;
    }
    if (temper->dump_fails > 0 && sim_chance(env->sim, temper->dump_fails)) {
        return say_failed(process, "a process is between fork and exec");
    }
    if (temper->dump_hangs > 0 && sim_chance(env->sim, temper->dump_hangs)) {
        return SIM_STAYS;
    }
    dump->timer = loop_timer_create(env->loop, dump_tick, dump);
    loop_timer_set(dump->timer, sim_between(env->sim, LOOK_MIN_US, LOOK_MAX_US) / SIM_MS);
    return SIM_STAYS;
}

/* ---- follow ---------------------------------------------------------------------------------- */

static void job_is_over(void *arg, pid_t pid, const struct os_exit *how)
{
    (void)pid;
    (void)how;
    loop_stop(arg, 0);
}

static int follow_start(const struct sim_env *env, void **state)
{
    pid_t pid = env->argc > 3 ? (pid_t)strtol(env->argv[2], NULL, 10) : 0;
    uint64_t began = pid > 0 ? os_start_time(env->os, pid) : 0;
    if (began == 0) {
        return say_failed(env->process, "the process runs no job");
    }
    struct follower *follower = mem_zalloc(sizeof(*follower));
    follower->pid = pid;
    *state = follower;
    (void)os_watch(env->os, pid, began, job_is_over, env->loop, NULL); /* cannot fail */
    return SIM_STAYS;
}

/* ---- commands that take some time ------------------------------------------------------------ */

struct errand { /* info, unpack or tar: does nothing for some time, then all at once */
    struct sim_process *process;
    int (*run)(struct sim_process *process);
};

static void errand_done(void *arg)
{
    struct errand *errand = arg;
    loop_stop(&errand->process->loop, errand->run(errand->process));
}

static int errand_start(const struct sim_env *env, int (*run)(struct sim_process *process))
{
    struct errand *errand = mem_zalloc(sizeof(*errand));
    *errand = (struct errand){env->process, run};
    loop_timer_set(loop_timer_create(env->loop, errand_done, errand),
                   sim_between(env->sim, 1, OTHER_MAX_US) / SIM_MS);
    return SIM_STAYS;
}

static const char *own_file(struct sim_process *process, const char *name, size_t *length)
{
    char path[SIM_PATH_MAX];
    return sim_process_path(process, name, path) ? sim_file_get(process->host, path, length) : NULL;
}

/* info IMAGE --verify: checks the image. */
static int run_info(struct sim_process *process)
{
    struct sim_image image;
    size_t length = 0;
    const char *data = own_file(process, process->argv[2], &length);
    if (!sim_image_decode(data, length, &image)) {
        return say_failed(process, "the image is damaged");
    }
    if (!sim_features_suit(image.features, sim_host_features(process->host))) {
        (void)say_failed(process, "this machine lacks features that the job may use");
        return UNSUITED;
    }
    return 0;
}

/* unpack: copies the image, because nothing is compressed.  Like the real program, it needs space
 * for the copy. */
static int run_unpack(struct sim_process *process)
{
    size_t length = 0;
    for (int i = 2; i < process->argc; i++) {
        if (own_file(process, process->argv[i], &length) == NULL) {
            return say_failed(process, "No such file");
        }
    }
    bool full = process->host->full_until_us > process->sim->now_us;
    return full ? say_failed(process, err_code_text(-ENOSPC)) : 0;
}

static int extract_file(void *arg, const char *path, mode_t mode, const void *data, size_t length)
{
    struct sim_process *process = arg;
    char name[SIM_PATH_MAX], full[SIM_PATH_MAX], above[SIM_PATH_MAX];
    struct os_file *file = NULL;
    (void)snprintf(name, sizeof(name), "/%s", path);
    if (!sim_process_path(process, name, full)) {
        return -ENAMETOOLONG;
    }
    (void)snprintf(above, sizeof(above), "%.*s", (int)(strrchr(full, '/') - full), full);
    int rc = sim_tree_mkdirs(process->host, above, 0755);
    rc = rc != 0 ? rc : os_file_open(&process->os, full, OS_WRITE_TRUNCATE, mode, &file, NULL);
    if (rc == 0) {
        rc = length > 0 ? os_file_write(file, 0, data, length) : 0;
        (void)os_file_chmod(file, mode);
        os_file_close(file);
    }
    if (rc != 0) {
        sim_say(process, "tar: %s: %s\n", path, err_code_text(rc));
    }
    return rc;
}

/* env tar --extract ... --file ARCHIVE: unpacks the archive. */
static int run_tar(struct sim_process *process)
{
    size_t length = 0;
    const char *data = own_file(process, process->argv[process->argc - 1], &length);
    if (data == NULL || !sim_archive_walk(data, length, extract_file, process)) {
        sim_say(process, "tar: error is not recoverable: exiting now\n");
        return USAGE;
    }
    return 0;
}

static int env_start(const struct sim_env *env, void **state)
{
    *state = NULL;
    return env->argc > 3 && strcmp(env->argv[1], "tar") == 0 ? errand_start(env, run_tar) : 127;
}

const struct sim_program sim_program_env = {.name = "env", .start = env_start};

/* ---- commands that are done at once ---------------------------------------------------------- */

static int run_probe(struct os *os, struct strbuf *said)
{
    strbuf_printf(said,
                  "HasCheckpointing = true\nCheckpointPlatform = \"" SAID_PLATFORM
                  "\"\nHasIncrementalCheckpoints = true\nCkptFeatures = \"%s\"\n",
                  sim_host_features(os->process->host));
    return 0;
}

/* merge [--pack] IMAGE DELTA OUT: writes the whole image. */
static int run_merge(struct os *os, const char *const *argv, struct strbuf *said)
{
    struct sim_host *host = os->process->host;
    struct sim_image images[2];
    struct err err = {""};
    argv += strcmp(argv[2], "--pack") == 0 ? 3 : 2;
    for (size_t i = 0; i < 2; i++) {
        size_t length = 0;
        const char *data = sim_file_get(host, argv[i], &length);
        if (!sim_image_decode(data, length, &images[i])) {
            strbuf_printf(said, "roost-ckpt: %s is damaged\n", argv[i]);
            return FAILED;
        }
    }
    if (images[0].base_id != 0 || images[1].base_id != images[0].id) {
        strbuf_puts(said, "roost-ckpt: they do not belong together\n");
        return FAILED;
    }
    struct strbuf bytes;
    strbuf_init(&bytes, 0);
    images[1].base_id = 0;
    images[1].bytes = images[0].bytes;
    sim_image_encode(&images[1], &bytes);
    images[1].bytes = bytes.length;
    struct os_file *file = NULL;
    int rc = os_file_open(os, argv[2], OS_WRITE_TRUNCATE, 0600, &file, &err);
    rc = rc != 0 ? rc : os_file_write(file, 0, bytes.data, bytes.length);
    os_file_close(file);
    strbuf_fini(&bytes);
    if (rc != 0) {
        strbuf_printf(said, "roost-ckpt: %s: %s\n", argv[2], err_code_text(rc));
        return FAILED;
    }
    say_image(&images[1], said);
    return 0;
}

static int ckpt_at_once(struct os *os, const char *const *argv, struct strbuf *said)
{
    if (argv[1] != NULL && strcmp(argv[1], "probe") == 0) {
        return run_probe(os, said);
    }
    return argv[1] != NULL && strcmp(argv[1], "merge") == 0 ? run_merge(os, argv, said) : USAGE;
}

/* ---- the program ----------------------------------------------------------------------------- */

/* `roost-ckpt run -- PROGRAM` becomes the program itself, so that nothing is between the job and
 * the rest.  Returns the index of PROGRAM in argv. */
static size_t ckpt_becomes(const char *const *argv)
{
    return argv[1] != NULL && strcmp(argv[1], "run") == 0 && argv[2] != NULL &&
                   strcmp(argv[2], "--") == 0 && argv[3] != NULL
               ? 3
               : 0;
}

static int ckpt_start(const struct sim_env *env, void **state)
{
    const char *word = env->argc > 2 ? env->argv[1] : "";
    *state = NULL;
    if (strcmp(word, "dump") == 0) {
        return dump_start(env, state);
    }
    if (strcmp(word, "follow") == 0) {
        return follow_start(env, state);
    }
    if (strcmp(word, "info") == 0) {
        return errand_start(env, run_info);
    }
    return strcmp(word, "unpack") == 0 ? errand_start(env, run_unpack) : USAGE;
}

const struct sim_program sim_program_ckpt = {.name = "roost-ckpt",
                                             .start = ckpt_start,
                                             .becomes = ckpt_becomes,
                                             .at_once = ckpt_at_once};

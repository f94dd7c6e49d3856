/* rsyscall/wrap/wrap_files.c - open remote files: see wrap.h.
 *
 * Reading: a file that is read in order is fetched in growing pieces, and the next piece is fetched
 * while the program works on the current one.  Writing: a piece that follows the one before is sent
 * without waiting for the answer.  Then the door has it, and it is written even if the program is
 * killed.  All other requests wait until everything that was sent is answered; so a program sees
 * everything that it can compare in the right order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "rsyscall/wrap/wrap.h"

#define WINDOW_MIN ((size_t)64 << 10)
#define AHEAD_SLOT (1 + WRAP_WRITES_MAX)
#define ONCE       (O_CREAT | O_EXCL | O_TRUNC | O_CLOEXEC | O_NOFOLLOW)

struct wrap_file *wrap_file_of(int fd)
{
    return fd >= 0 && fd < WRAP_FDS_MAX ? wrap_all.fds[fd] : NULL;
}

static void set_descriptor(int fd, struct wrap_file *file)
{
    __atomic_store_n(&wrap_all.fds[fd], file, __ATOMIC_RELAXED);
}

bool wrap_is_certainly_local(int fd)
{
    if (!wrap_is_begun()) {
        return false;
    }
    return !wrap_all.on || fd < 0 || fd >= WRAP_FDS_MAX ||
           __atomic_load_n(&wrap_all.fds[fd], __ATOMIC_RELAXED) == NULL;
}

/* ---- offsets --------------------------------------------------------------------------------- */

uint64_t wrap_file_offset(const struct wrap_file *file)
{
    if (!file->shared) {
        return file->offset;
    }
    long at = syscall(SYS_lseek, file->fd, 0, SEEK_CUR);
    return at > 0 ? (uint64_t)at : 0;
}

void wrap_file_set_offset(struct wrap_file *file, uint64_t offset)
{
    file->offset = offset;
    if (file->shared) {
        (void)syscall(SYS_lseek, file->fd, (off_t)offset, SEEK_SET);
    }
}

int64_t wrap_file_seek(struct wrap_file *file, int64_t offset, int whence)
{
    struct stat st;
    int64_t base = 0;
    if (whence == SEEK_CUR) {
        base = (int64_t)wrap_file_offset(file);
    } else if (whence == SEEK_END) {
        int code = wrap_file_stat(file, &st);
        if (code != 0) {
            return code;
        }
        base = st.st_size;
    } else if (whence == SEEK_DATA || whence == SEEK_HOLE) {
        struct rsys_request request = {.op = RSYS_SEEK, .at = {.handle = file->handle}};
        struct rsys_reply reply;
        if (offset < 0) {
            return -ENXIO;
        }
        request.offset = (uint64_t)offset;
        request.how = whence == SEEK_DATA ? RSYS_SEEK_DATA : RSYS_SEEK_HOLE;
        wrap_settle();
        int code = wrap_call(&request, &reply);
        if (code != 0) {
            return code;
        }
        base = (int64_t)reply.value;
        offset = 0;
    } else if (whence != SEEK_SET) {
        return -EINVAL;
    }
    int64_t to;
    if (__builtin_add_overflow(base, offset, &to) || to < 0) {
        return -EINVAL;
    }
    wrap_file_set_offset(file, (uint64_t)to);
    return to;
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool has_room(struct wrap_buffer *buffer)
{
    if (buffer->data == NULL) {
        void *data =
            mmap(NULL, RSYS_DATA_MAX, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        buffer->data = data != MAP_FAILED ? data : NULL;
    }
    return buffer->data != NULL;
}

static void drop_buffer(struct wrap_buffer *buffer)
{
    if (buffer->data != NULL) {
        (void)munmap(buffer->data, RSYS_DATA_MAX);
    }
    *buffer = (struct wrap_buffer){0};
}

/* Copies the data of a reply to the buffer, with zeros for holes.  False: the reply is invalid. */
static bool unpack_data(const struct rsys_reply *reply, struct wrap_buffer *to)
{
    const unsigned char *data = reply->data;
    if (reply->value > RSYS_DATA_MAX) {
        return false;
    }
    if (reply->extent_count != 1 || reply->extents[0].length != reply->value) {
        memset(to->data, 0, (size_t)reply->value);
    }
    for (size_t i = 0; i < reply->extent_count; i++) {
        const struct rsys_extent *extent = &reply->extents[i];
        if (extent->offset < to->offset || extent->offset - to->offset > reply->value ||
            extent->length > reply->value - (extent->offset - to->offset)) {
            return false;
        }
        memcpy(to->data + (extent->offset - to->offset), data, extent->length);
        data += extent->length;
    }
    to->length = (size_t)reply->value;
    return true;
}

static struct rsys_request read_of(const struct wrap_file *file, uint64_t offset, size_t length)
{
    return (struct rsys_request){.op = RSYS_READ,
                                 .at = {.handle = file->handle},
                                 .offset = offset,
                                 .length = length};
}

static void read_ahead(struct wrap_file *file)
{
    uint64_t offset = file->now.offset + file->now.length;
    size_t length = file->window < wrap_all.data_max ? file->window : wrap_all.data_max;
    if (file->ahead != WRAP_AHEAD_NONE || file->shared || !has_room(&file->next)) {
        return;
    }
    for (uint32_t slot = AHEAD_SLOT; slot < wrap_all.slots; slot++) {
        if (wrap_all.in_slot[slot] == NULL) {
            struct rsys_request request = read_of(file, offset, length);
            if (wrap_send(&request, (uint16_t)slot) == 0) {
                wrap_all.in_slot[slot] = file;
                file->next.offset = offset;
                file->next.length = 0;
                file->ahead = WRAP_AHEAD_ASKED;
                file->ahead_slot = (uint16_t)slot;
            }
            return;
        }
    }
}

static void await_ahead(struct wrap_file *file)
{
    struct rsys_reply reply;
    while (file->ahead == WRAP_AHEAD_ASKED) {
        int code = wrap_receive(&reply);
        if (code != 0) {
            wrap_all.in_slot[file->ahead_slot] = NULL;
            file->ahead = WRAP_AHEAD_NONE;
            if (code == -EPIPE) {
                (void)wrap_renew();
            }
        } else {
            wrap_file_answered(&reply);
        }
    }
}

/* Fills the buffer with the data at offset; length 0 then means the end of the file.  Returns 0 or
 * a negative errno. */
static int fetch_data(struct wrap_file *file, size_t wanted, uint64_t offset)
{
    bool in_order = offset == file->read_end && !file->shared;
    size_t most = wrap_all.data_max;
    if (file->ahead != WRAP_AHEAD_NONE && file->next.offset == offset) {
        await_ahead(file);
        if (file->ahead == WRAP_AHEAD_HERE && file->next.length > 0) {
            struct wrap_buffer before = file->now;
            file->now = file->next;
            file->next = before;
            file->ahead = WRAP_AHEAD_NONE;
            file->window = file->window < most / 2 ? file->window * 2 : most;
            read_ahead(file);
            return 0;
        }
    } else {
        await_ahead(file); /* it is of no use */
    }
    file->ahead = WRAP_AHEAD_NONE;
    if (!has_room(&file->now)) {
        return -ENOMEM;
    }
    file->window = in_order ? (file->window < WINDOW_MIN ? WINDOW_MIN : file->window) : 0;
    size_t length = wanted > file->window ? wanted : file->window;
    length = length < most ? length : most;
    struct rsys_request request = read_of(file, offset, length);
    struct rsys_reply reply;
    file->now.length = 0;
    int code = wrap_call(&request, &reply);
    if (code != 0) {
        return code;
    }
    file->now.offset = offset;
    if (!unpack_data(&reply, &file->now)) {
        return -EIO;
    }
    if (in_order && file->now.length == length) {
        file->window = file->window < most / 2 ? file->window * 2 : most;
        read_ahead(file);
    }
    return 0;
}

static uint64_t now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

/* True when the data that came with OPEN may be old.  It is for a program that reads at once; a
 * program that waits first may have waited for another one that writes. */
static bool is_stale(struct wrap_file *file)
{
    bool ret =
        file->fresh_ns != 0 && (now_ns() > file->fresh_ns ||
                                __atomic_load_n(&wrap_all.heard, __ATOMIC_RELAXED) != file->heard);
    file->fresh_ns = 0;
    return ret;
}

int64_t wrap_file_read(struct wrap_file *file, void *data, size_t length, uint64_t offset)
{
    size_t done = 0;
    if ((file->flags & O_ACCMODE) == O_WRONLY || (file->flags & O_PATH) != 0) {
        return -EBADF;
    }
    if (S_ISDIR(file->mode)) {
        return -EISDIR;
    }
    if (file->lost) {
        return -ESTALE;
    }
    wrap_settle();
    if (file->shared || is_stale(file)) {
        file->now.length = 0; /* another may have written */
    }
    while (done < length) {
        uint64_t at = offset + done;
        const struct wrap_buffer *now = &file->now;
        if (now->length == 0 || at < now->offset || at - now->offset >= now->length) {
            int code = fetch_data(file, length - done, at);
            if (code != 0) {
                return done > 0 ? (int64_t)done : code;
            }
            if (now->length == 0) {
                break;
            }
        }
        size_t skip = (size_t)(at - now->offset), piece = now->length - skip;
        piece = piece < length - done ? piece : length - done;
        memcpy((char *)data + done, now->data + skip, piece);
        done += piece;
        file->read_end = at + piece;
    }
    return (int64_t)done;
}

/* ---- writing --------------------------------------------------------------------------------- */

void wrap_file_forget(uint64_t dev, uint64_t ino)
{
    for (size_t i = 0; i < wrap_all.files_end; i++) {
        struct wrap_file *file = &wrap_all.files[i];
        if (file->refs > 0 && file->ino == ino && file->dev == dev) {
            await_ahead(file);
            file->ahead = WRAP_AHEAD_NONE;
            file->now.length = 0;
        }
    }
}

void wrap_file_answered(const struct rsys_reply *reply)
{
    struct wrap_file *file = reply->slot < wrap_all.slots ? wrap_all.in_slot[reply->slot] : NULL;
    if (file == NULL || reply->seq != wrap_all.seq[reply->slot]) {
        return;
    }
    wrap_all.in_slot[reply->slot] = NULL;
    if (file == &wrap_all.closing) {
        return;
    }
    if (reply->slot < AHEAD_SLOT) {
        __atomic_sub_fetch(&wrap_all.writes, 1, __ATOMIC_RELAXED);
        bool all = reply->status == 0 && reply->value >= wrap_all.slot_bytes[reply->slot];
        if (!all && file->error == 0) {
            file->error = reply->status < 0 ? reply->status : -EIO;
        }
    } else {
        file->ahead = reply->status == 0 && unpack_data(reply, &file->next) ? WRAP_AHEAD_HERE
                                                                            : WRAP_AHEAD_NONE;
    }
}

static uint16_t free_slot(void)
{
    uint32_t end = AHEAD_SLOT < wrap_all.slots ? AHEAD_SLOT : wrap_all.slots;
    for (uint32_t slot = 1; slot < end; slot++) {
        if (wrap_all.in_slot[slot] == NULL) {
            return (uint16_t)slot;
        }
    }
    return 0;
}

/* Sends a write behind earlier ones, without waiting for its answer. */
static int write_later(struct wrap_file *file, struct rsys_request *request)
{
    struct rsys_reply reply;
    if (wrap_all.writing != file ||
        (wrap_all.writes > 0 && file->read_end != request->extents[0].offset)) {
        wrap_settle();
    }
    uint16_t slot = free_slot();
    while (slot == 0 && wrap_all.writes > 0) {
        if (wrap_receive(&reply) != 0) {
            return wrap_call(request, &reply);
        }
        wrap_file_answered(&reply);
        slot = free_slot();
    }
    if (slot == 0) {
        return wrap_call(request, &reply); /* a door with one slot */
    }
    int code = wrap_send(request, slot);
    if (code == 0) {
        wrap_all.in_slot[slot] = file;
        wrap_all.slot_bytes[slot] = request->data_length;
        wrap_all.writing = file;
        __atomic_add_fetch(&wrap_all.writes, 1, __ATOMIC_RELAXED);
    }
    return code == -EPIPE ? wrap_call(request, &reply) : code;
}

int64_t wrap_file_write(struct wrap_file *file, const void *data, size_t length, uint64_t offset)
{
    size_t done = 0;
    bool append = (file->flags & O_APPEND) != 0;
    if ((file->flags & O_ACCMODE) == O_RDONLY || (file->flags & O_PATH) != 0) {
        return -EBADF;
    }
    int code = wrap_file_take_error(file);
    if (code == 0) {
        wrap_file_forget(file->dev, file->ino);
    }
    while (code == 0 && done < length) {
        size_t piece = length - done < wrap_all.data_max ? length - done : wrap_all.data_max;
        struct rsys_request request = {.op = RSYS_WRITE,
                                       .at = {.handle = file->handle},
                                       .extent_count = 1,
                                       .extents = {{offset + done, (uint32_t)piece}},
                                       .data = (const char *)data + done,
                                       .data_length = piece};
        struct rsys_reply reply;
        if (append || file->shared || wrap_all.ending || (file->flags & (O_SYNC | O_DSYNC)) != 0) {
            wrap_settle();
            code = wrap_call(&request, &reply);
            piece = code == 0 && reply.value < piece ? (size_t)reply.value : piece;
        } else {
            code = write_later(file, &request);
            file->read_end = offset + done + piece;
        }
        done += code == 0 ? piece : 0;
        if (piece == 0) {
            break;
        }
    }
    return done > 0 ? (int64_t)done : code;
}

int wrap_file_take_error(struct wrap_file *file)
{
    int code = file->lost ? -ESTALE : file->error;
    file->error = 0;
    return code;
}

/* ---- attributes ------------------------------------------------------------------------------ */

int wrap_file_stat(struct wrap_file *file, struct stat *ret)
{
    struct rsys_request request = {.op = RSYS_STAT, .at = {.handle = file->handle}};
    struct rsys_reply reply;
    wrap_settle();
    int code = wrap_call(&request, &reply);
    if (code == 0) {
        wrap_stat_of(&reply.attr, ret);
        wrap_file_forget(file->dev, file->ino); /* who looks wants what others have written */
    }
    return code;
}

/* ---- opening --------------------------------------------------------------------------------- */

static uint32_t how_of(int flags)
{
    static const struct {
        int flag;
        uint32_t how;
    } PAIRS[] = {{O_APPEND, RSYS_OPEN_APPEND}, {O_CREAT, RSYS_OPEN_CREATE},
                 {O_EXCL, RSYS_OPEN_EXCL},     {O_TRUNC, RSYS_OPEN_TRUNC},
                 {O_PATH, RSYS_OPEN_PATH},     {O_DIRECTORY, RSYS_OPEN_DIRECTORY},
                 {O_DSYNC, RSYS_OPEN_SYNC}};
    int access = flags & O_ACCMODE;
    uint32_t how =
        (access != O_WRONLY ? RSYS_OPEN_READ : 0) | (access != O_RDONLY ? RSYS_OPEN_WRITE : 0);
    if ((flags & O_TMPFILE) == O_TMPFILE) {
        return how | RSYS_OPEN_TMPFILE;
    }
    for (size_t i = 0; i < sizeof PAIRS / sizeof PAIRS[0]; i++) {
        how |= (flags & PAIRS[i].flag) != 0 ? PAIRS[i].how : 0;
    }
    return (flags & O_PATH) != 0 ? how & ~(RSYS_OPEN_READ | RSYS_OPEN_WRITE) : how;
}

static struct wrap_file *new_file(void)
{
    for (size_t i = 0; i < WRAP_FILES_MAX; i++) {
        if (wrap_all.files[i].refs == 0) {
            memset(&wrap_all.files[i], 0, sizeof wrap_all.files[i]);
            wrap_all.files_end = wrap_all.files_end > i ? wrap_all.files_end : i + 1;
            return &wrap_all.files[i];
        }
    }
    return NULL;
}

/* From now on, other processes may share the file: stops reading ahead, and shares the offset. */
static void share_file(struct wrap_file *file)
{
    if (!file->shared) {
        wrap_settle();
        await_ahead(file);
        file->ahead = WRAP_AHEAD_NONE;
        file->shared = true;
        wrap_file_set_offset(file, file->offset);
    }
}

static void flush_locks(const struct wrap_file *file, uint64_t owner)
{
    struct rsys_request request = {.op = RSYS_FLUSH,
                                   .at = {.handle = file->handle},
                                   .owner = owner};
    struct rsys_reply reply;
    (void)wrap_call(&request, &reply);
}

/* Drops the process's locks on the file, as the kernel does when any descriptor of the file is
 * closed. */
static void drop_locks(struct wrap_file *file)
{
    bool had = false;
    for (size_t i = 0; i < wrap_all.files_end && wrap_all.has_locks; i++) {
        struct wrap_file *each = &wrap_all.files[i];
        if (each->locked && each->ino == file->ino && each->dev == file->dev) {
            each->locked = false;
            had = true;
        }
    }
    if (had) {
        wrap_taken_over(file, WRAP_LOCK_OF_PROCESS);
        flush_locks(file, (uint64_t)getpid());
    }
}

/* Closes a handle at the server.  Waits for the answer only if other processes may wait for locks
 * that end with the handle. */
static int say_close(uint64_t handle)
{
    struct rsys_request request = {.op = RSYS_CLOSE, .at = {.handle = handle}};
    struct rsys_reply reply;
    uint16_t slot = wrap_all.has_locks ? 0 : free_slot();
    if (slot == 0 || wrap_send(&request, slot) != 0) {
        return wrap_call(&request, &reply);
    }
    wrap_all.in_slot[slot] = &wrap_all.closing;
    return 0;
}

static void take_beginning(struct wrap_file *file, const struct rsys_reply *reply)
{
    if (reply->data_length > 0 && reply->data_length <= WRAP_OPEN_DATA && has_room(&file->now)) {
        memcpy(file->now.data, reply->data, reply->data_length);
        file->now.offset = 0;
        file->now.length = reply->data_length;
        file->fresh_ns = now_ns() + WRAP_FRESH_NS;
        file->heard = __atomic_load_n(&wrap_all.heard, __ATOMIC_RELAXED);
    }
}

int wrap_file_open(struct wrap_place *place, int flags, mode_t mode, int *fd)
{
    struct rsys_request request = {.op = RSYS_OPEN, .how = how_of(flags), .mode = mode & 07777U};
    bool reads = (flags & (O_ACCMODE | O_PATH | O_TRUNC | O_DIRECTORY)) == O_RDONLY;
    request.length = reads ? WRAP_OPEN_DATA : 0;
    struct rsys_reply reply;
    struct wrap_file *file = new_file();
    place->nofollow = (flags & O_NOFOLLOW) != 0;
    wrap_settle();
    int code = wrap_call_at(place, &request, &reply);
    if (code != 0) {
        return code;
    }
    if (file == NULL) {
        (void)say_close(reply.handle);
        return -EMFILE;
    }
    file->handle = reply.handle;
    file->dev = reply.attr.dev;
    file->ino = reply.attr.ino;
    file->birth = reply.birth;
    file->mode = reply.attr.mode;
    file->flags = (uint32_t)(flags & ~ONCE);
    take_beginning(file, &reply);
    if ((flags & O_TRUNC) != 0) {
        wrap_file_forget(file->dev, file->ino);
    }
    code = wrap_record_make(file, place->path, (flags & O_CLOEXEC) != 0);
    if (code < 0) {
        drop_buffer(&file->now);
        (void)say_close(file->handle);
        return code;
    }
    file->fd = code;
    file->refs = 1;
    set_descriptor(code, file);
    if (code <= STDERR_FILENO) {
        share_file(file); /* for who is started by system(), posix_spawn(): they tell us nothing */
    }
    *fd = code;
    return 0;
}

/* ---- descriptors ----------------------------------------------------------------------------- */

/* Closes the file when its last descriptor in this process is gone. */
static int end_file(struct wrap_file *file)
{
    wrap_settle();
    await_ahead(file);
    wrap_taken_over(file, WRAP_LOCK_OF_FILE);
    wrap_taken_over(file, WRAP_LOCK_OF_ALL);
    int code = wrap_file_take_error(file);
    int closed = say_close(file->handle);
    drop_buffer(&file->now);
    drop_buffer(&file->next);
    if (wrap_all.writing == file) {
        wrap_all.writing = NULL;
    }
    return code != 0 ? code : closed;
}

static int forget_descriptor(int fd)
{
    struct wrap_file *file = wrap_file_of(fd);
    if (file == NULL) {
        return 0;
    }
    set_descriptor(fd, NULL);
    file->refs--;
    drop_locks(file);
    if (file->refs == 0) {
        file->refs = 1; /* nobody takes it meanwhile */
        int code = end_file(file);
        file->refs = 0;
        return code;
    }
    for (int i = 0; i < WRAP_FDS_MAX && file->fd == fd; i++) {
        file->fd = wrap_all.fds[i] == file ? i : fd;
    }
    return 0;
}

void wrap_file_double(struct wrap_file *file, int fd)
{
    if (fd < 0 || fd >= WRAP_FDS_MAX || wrap_all.fds[fd] == file) {
        return;
    }
    if (file != NULL) {
        file->refs++; /* first: it may be what the other one was */
    }
    (void)forget_descriptor(fd);
    set_descriptor(fd, file);
    if (file != NULL && fd <= STDERR_FILENO) {
        share_file(file); /* as in wrap_file_open() */
    }
}

int wrap_file_close(int fd)
{
    int code = forget_descriptor(fd);
    return syscall(SYS_close, fd) != 0 && code == 0 ? -errno : code;
}

/* ---- processes ------------------------------------------------------------------------------- */

void wrap_files_share(void)
{
    for (size_t i = 0; i < wrap_all.files_end; i++) {
        if (wrap_all.files[i].refs > 0) {
            share_file(&wrap_all.files[i]);
        }
    }
}

void wrap_files_unlocked(void)
{
    for (size_t i = 0; i < wrap_all.files_end; i++) {
        wrap_all.files[i].locked = false;
    }
    wrap_taken_of_parent();
}

bool wrap_files_are_locked(void)
{
    bool ret = false;
    for (size_t i = 0; i < wrap_all.files_end; i++) {
        ret = ret || (wrap_all.files[i].refs > 0 && wrap_all.files[i].locked);
    }
    return ret;
}

void wrap_files_unread(void)
{
    for (size_t i = 0; i < wrap_all.files_end; i++) {
        wrap_all.files[i].ahead = WRAP_AHEAD_NONE;
        wrap_all.files[i].now.length = 0;
    }
}

/* At another door, opens the same file again by the name of its handle. */
static void open_again(struct wrap_file *file)
{
    struct wrap_record record;
    struct wrap_place place = {0};
    struct rsys_reply reply;
    struct rsys_request request = {.op = RSYS_OPEN,
                                   .how = how_of((int)file->flags) | RSYS_OPEN_SAME,
                                   .birth = file->birth,
                                   .attr = {.dev = file->dev,
                                            .ino = file->ino,
                                            .size = file->handle}};
    if (wrap_record_read(file->fd, &record) && wrap_find(AT_FDCWD, record.path, &place) == 0 &&
        !place.local) {
        place.nofollow = true;
        (void)wrap_call_at(&place, &request, &reply);
    }
}

/* Makes this connection a holder of the handle, by asking about it. */
static void hold_handle(struct wrap_file *file)
{
    struct rsys_request request = {.op = RSYS_STAT, .at = {.handle = file->handle}};
    struct rsys_reply reply;
    int code = wrap_call(&request, &reply);
    if (code == -ESTALE) {
        open_again(file);
    }
}

void wrap_files_hold(void)
{
    for (size_t i = 0; i < wrap_all.files_end; i++) {
        if (wrap_all.files[i].refs > 0) {
            hold_handle(&wrap_all.files[i]);
        }
    }
}

static void adopt_descriptor(int fd, uint64_t *seen)
{
    struct wrap_record record;
    struct stat st;
    if (syscall(SYS_fcntl, fd, F_GET_SEALS) < 0 || !wrap_record_read(fd, &record) ||
        syscall(SYS_fstat, fd, &st) != 0) {
        return;
    }
    for (int i = 0; i < fd; i++) {
        if (wrap_all.fds[i] != NULL && seen[i] == st.st_ino) {
            wrap_file_double(wrap_all.fds[i], fd);
            seen[fd] = st.st_ino;
            return;
        }
    }
    struct wrap_file *file = new_file();
    if (file != NULL) {
        *file = (struct wrap_file){.handle = record.handle,
                                   .dev = record.dev,
                                   .ino = record.ino,
                                   .birth = record.birth,
                                   .flags = record.flags,
                                   .mode = record.mode,
                                   .refs = 1,
                                   .shared = true,
                                   .fd = fd};
        set_descriptor(fd, file);
        seen[fd] = st.st_ino;
        file->locked = wrap_all.has_locks;
        hold_handle(file);
    }
}

void wrap_files_adopt(void)
{
    uint64_t seen[WRAP_FILES_MAX] = {0};
    for (int fd = 0; fd < WRAP_FILES_MAX; fd++) {
        adopt_descriptor(fd, seen);
        if (wrap_all.fds[fd] != NULL && wrap_taken_was_told(fd)) {
            wrap_all.fds[fd]->locks_unknown = true;
        }
    }
}

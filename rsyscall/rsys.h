/* rsyscall/rsys.h - the protocol of remote system calls: what a job's side asks of the submit
 * machine.
 *
 * The problem: a job on a stranger's machine works on the files of its owner's.  At its side is a
 * file system (rsyscall_fuse/) or a library in the job; in the shadow is the server (server.h).
 * Between them is one connection (docs/protocol/rsyscall.md): requests with a header of 16 bytes,
 * many at once, answered in any order.
 *
 * Three things are as they are because the network is cut now and then, and the client may be an
 * enemy:
 * - Each request is in a slot, and has the slot's number that follows the one before.  After a cut
 *   the client sends what is unanswered again, on another connection of the same session; the
 *   server knows by the number what it has done already, and answers from memory.  What it has to
 *   remember is bounded by the number of slots.
 * - A thing is named by (handle, path below it), as with openat(); an empty path is the handle's
 *   own file.  The server follows no symbolic link: a path with one is answered -ELOOP with the
 *   link's text, and the client goes on from there, as a kernel does.  So there is no state at the
 *   server but what is open.
 * - Every message has a bound, and is checked as a whole before any of it is used.
 *
 * One table (rsys_codec.c) says what fields an operation has.  This file and rsys_codec.c use
 * nothing but libc: they are linked into jobs too.  They always return, and allocate nothing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RSYSCALL_RSYS_H
#define RSYSCALL_RSYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RSYS_VERSION      2
#define RSYS_DATA_MAX     ((size_t)1 << 20)            /* bytes of data in one message */
#define RSYS_FRAME_MAX    (RSYS_DATA_MAX + (16 << 10)) /* bytes of one message */
#define RSYS_HEADER_SIZE  16
#define RSYS_FIELDS_MAX   (16 << 10) /* bytes of header and fields: what a buffer for them holds */
#define RSYS_PATH_MAX     4095       /* bytes of a path or of a link's text, without the zero */
#define RSYS_NAME_MAX     255
#define RSYS_TICKET_MAX   512
#define RSYS_OPEN_DATA    ((size_t)64 << 10) /* that OPEN brings at most */
#define RSYS_SLOTS_MAX    128                /* requests under way at once */
#define RSYS_EXTENTS_MAX  64
#define RSYS_ROOTS_MAX    16
#define RSYS_SESSION_SIZE 16

/* Handles below RSYS_ROOTS_MAX are roots: 0 is what the job sees as "/", unless HELLO said
 * otherwise.  All others were given by OPEN, and are never 0. */
#define RSYS_ROOT 0

enum rsys_op {
    RSYS_HELLO = 1, /* begins or resumes a session; the first request of a connection */
    RSYS_PING,      /* nothing; keeps the lease */
    RSYS_BYE,       /* ends the session: all that is open is closed */
    RSYS_STAT,      /* at -> attr.  Never follows a link */
    RSYS_SETATTR,   /* at, how = RSYS_SET_*, attr -> attr */
    RSYS_ACCESS,    /* at, how = R_OK|W_OK|X_OK */
    RSYS_READLINK,  /* at -> text */
    RSYS_OPEN,      /* at, how = RSYS_OPEN_*, mode, [attr.dev, attr.ino], length -> handle, value,
                       attr, data */
    RSYS_CLOSE,     /* at.handle */
    RSYS_FLUSH,     /* at.handle, owner: a descriptor was closed: its owner's locks go */
    RSYS_READ,      /* at.handle, offset, length -> value, extents, data */
    RSYS_WRITE,     /* at.handle, extents, data -> value = bytes written, [attr] */
    RSYS_READDIR,   /* at.handle, offset = cookie, length, how = RSYS_DIR_PLUS -> value, data */
    RSYS_MKDIR,     /* at, mode -> attr */
    RSYS_MKNOD,     /* at, mode: a fifo or an empty file -> attr */
    RSYS_SYMLINK,   /* at, text = what the link says -> attr */
    RSYS_LINK,      /* at = what there is, to = the new name -> attr */
    RSYS_RENAME,    /* at, to, how = RSYS_RENAME_* */
    RSYS_UNLINK,    /* at */
    RSYS_RMDIR,     /* at */
    RSYS_STATFS,    /* at -> statfs */
    RSYS_FSYNC,     /* at.handle, how = RSYS_SYNC_DATA */
    RSYS_LOCK,      /* at.handle, lock, owner, how = RSYS_LOCK_*, wait_ms -> lock */
    RSYS_XATTR,     /* at, text = name: always -EOPNOTSUPP */
    RSYS_FALLOCATE, /* at.handle, offset, length, how = FALLOC_FL_* -> attr */
    RSYS_SEEK,      /* at.handle, offset, how = RSYS_SEEK_* -> value */
    RSYS_COPY,      /* at.handle, offset, to.handle, offset_to, length -> value = bytes copied */
    RSYS_CANCEL,    /* slot_of, seq_of: a LOCK that waits there is answered -EINTR now */
    RSYS_OP_END
};

/* Flags of any request. */
#define RSYS_WANT_ATTR 1U /* WRITE: the reply brings the file's attributes */

/* RSYS_OPEN. */
#define RSYS_OPEN_READ      1U
#define RSYS_OPEN_WRITE     2U
#define RSYS_OPEN_APPEND    4U /* each WRITE goes to the end, wherever its extents say */
#define RSYS_OPEN_CREATE    8U /* value = 1 in the reply when it was created */
#define RSYS_OPEN_EXCL      16U
#define RSYS_OPEN_TRUNC     32U
#define RSYS_OPEN_DIRECTORY 64U  /* for READDIR, and as the handle of paths */
#define RSYS_OPEN_PATH      128U /* no rights to the contents: for STAT and as the handle of paths */
#define RSYS_OPEN_SYNC      256U
#define RSYS_OPEN_TMPFILE   512U /* at is a directory: a file without a name; LINK names it */
/* Again, after the session was lost: -ESTALE unless it is attr.dev and attr.ino still. */
#define RSYS_OPEN_SAME 1024U

/* RSYS_SETATTR. */
#define RSYS_SET_MODE      1U
#define RSYS_SET_UID       2U
#define RSYS_SET_GID       4U
#define RSYS_SET_SIZE      8U
#define RSYS_SET_ATIME     16U
#define RSYS_SET_MTIME     32U
#define RSYS_SET_ATIME_NOW 64U
#define RSYS_SET_MTIME_NOW 128U

#define RSYS_DIR_PLUS         1U /* entries bring attributes */
#define RSYS_SYNC_DATA        1U /* fdatasync() */
#define RSYS_RENAME_NOREPLACE 1U
#define RSYS_RENAME_EXCHANGE  2U
#define RSYS_SEEK_DATA        3U
#define RSYS_SEEK_HOLE        4U

/* RSYS_LOCK: of a range with an owner (fcntl), or of the open file as a whole (flock). */
#define RSYS_LOCK_GET         1U /* F_GETLK: lock says who is in the way, or RSYS_UNLOCKED */
#define RSYS_LOCK_FLOCK       2U
#define RSYS_LOCK_WAIT_MS_MAX 60000U

enum rsys_lock_type { RSYS_UNLOCKED, RSYS_LOCK_READ, RSYS_LOCK_WRITE };

/* A text in a message: borrowed from its buffer; zero-terminated there, no zero within. */
struct rsys_text {
    const char *data; /* NULL: the empty text */
    uint16_t length;  /* without the zero */
};

/* path: "a/b/c", no name in it is empty, "." or ".." nor longer than RSYS_NAME_MAX; "": the
 * handle's own file. */
struct rsys_at {
    uint64_t handle;
    struct rsys_text path;
};

struct rsys_time {
    int64_t s;
    uint32_t ns;
};

struct rsys_attr {
    uint32_t mode; /* with the type, as in struct stat */
    uint32_t nlink;
    uint32_t uid, gid;
    uint32_t blksize;
    uint32_t rdev_major, rdev_minor;
    uint64_t dev, ino; /* together they name a file of this server once */
    uint64_t size;
    uint64_t blocks; /* of 512 bytes */
    struct rsys_time atime, mtime, ctime;
};

struct rsys_statfs {
    uint64_t blocks, bfree, bavail; /* of frsize bytes */
    uint64_t files, ffree;
    uint32_t frsize, namelen;
};

struct rsys_lock {
    uint32_t type;          /* enum rsys_lock_type */
    uint32_t pid;           /* RSYS_LOCK_GET: who holds it at the server, 0 unknown */
    uint64_t start, length; /* length 0: to the end */
};

struct rsys_extent {
    uint64_t offset;
    uint32_t length; /* of data; the extents' data follow each other */
};

/* What of it an operation uses is said at the operation; all else is not sent, and 0 when decoded.
 * Pointers are borrowed, from the caller or from the buffer that was decoded. */
struct rsys_request {
    uint16_t op;   /* enum rsys_op */
    uint16_t slot; /* below the session's number of slots; HELLO: 0 */
    uint32_t seq;  /* 1 for a slot's first, then one more (after 2^32-1: 0); HELLO: 0 */
    uint32_t flags;
    struct rsys_at at, to;
    struct rsys_text text;
    uint32_t how, mode;
    uint64_t offset, offset_to, length;
    uint64_t owner; /* of locks: any number that the client gives a process */
    uint32_t wait_ms;
    struct rsys_attr attr;
    uint64_t birth; /* RSYS_OPEN_SAME: as the reply had it that opened it first; 0: not compared */
    struct rsys_lock lock;
    uint16_t slot_of;
    uint32_t seq_of;
    /* HELLO */
    uint32_t version;
    uint32_t slots;                           /* wanted */
    unsigned char session[RSYS_SESSION_SIZE]; /* zero: a new one */
    uint16_t extent_count;
    struct rsys_extent extents[RSYS_EXTENTS_MAX];
    const void *data;
    size_t data_length;
};

/* status < 0 is a negative errno (numbers of Linux on x86-64); a reply then has no more fields,
 * but for -ELOOP: value = bytes of the path up to the link and with its name, text = what the link
 * says; how = 1: the path was `to`, else `at`. */
struct rsys_reply {
    uint16_t op;
    uint16_t slot;
    uint32_t seq;
    int32_t status;
    uint64_t handle;
    uint64_t value;
    uint32_t how;
    struct rsys_text text;
    struct rsys_attr attr; /* mode 0: not known */
    uint64_t birth;        /* when the file was made, in ns since 1970; 0: not known */
    struct rsys_statfs statfs;
    struct rsys_lock lock;
    /* HELLO; roots are in data: rsys_root_next() */
    uint32_t version;
    uint32_t slots;    /* granted */
    uint32_t lease_ms; /* a session whose client is silent for longer is over */
    uint32_t data_max; /* bytes of data in a message: at most RSYS_DATA_MAX */
    uint32_t uid, gid; /* whose rights the server has */
    unsigned char session[RSYS_SESSION_SIZE];
    uint16_t extent_count;
    struct rsys_extent extents[RSYS_EXTENTS_MAX];
    const void *data;
    size_t data_length;
};

/* Header and fields of a message into out[0..size): all but the data, which the caller sends right
 * behind, so that they need not be copied.  Returns the bytes written; or -EINVAL (no such
 * operation, a text, path or number out of its bounds: nothing that a peer would decode), or
 * -EMSGSIZE (size; RSYS_FIELDS_MAX is always enough). */
int rsys_encode_request(const struct rsys_request *request, void *out, size_t size);
int rsys_encode_reply(const struct rsys_reply *reply, void *out, size_t size);

/* The length of the message that begins at in[0..length), its data included: 0 when that cannot be
 * told yet (fewer than RSYS_HEADER_SIZE bytes), -EMSGSIZE when no message is so long or so short:
 * the connection is of no use any more. */
int64_t rsys_frame_length(const void *in, size_t length);

/* A whole message.  0, or -EBADMSG; then *ret has op, slot, seq (and flags or status) alone, and op
 * is as it came. */
int rsys_decode_request(const void *in, size_t length, struct rsys_request *ret);
int rsys_decode_reply(const void *in, size_t length, struct rsys_reply *ret);

/* Is it a path of struct rsys_at? */
bool rsys_path_is_good(const char *path, size_t length);
/* Splits it behind its last '/': returns the length of the directory's part ("" has 0), *name is
 * where the last name begins. */
size_t rsys_path_split(const char *path, size_t length, size_t *name);

/* What the server may do a second time without harm: such requests are not remembered, but done
 * again when they come again. */
bool rsys_op_is_repeatable(uint16_t op);
const char *rsys_op_name(uint16_t op); /* "OPEN"; "?" for none */

/* ---- lists in data --------------------------------------------------------------------------- */

/* An entry of a directory.  READDIR's reply: value = 1 at the end of the directory. */
struct rsys_entry {
    uint64_t cookie; /* of the entry that follows: offset of the next READDIR */
    uint64_t ino;
    uint32_t type; /* DT_* of <dirent.h> */
    struct rsys_text name;
    bool has_attr;
    struct rsys_attr attr;
};
#define RSYS_ENTRY_MAX 512 /* bytes of one at most */

/* Appends to out[*at..size); false, and nothing changed: no room. */
bool rsys_entry_put(void *out, size_t size, size_t *at, const struct rsys_entry *entry);
/* 1 and the next entry; 0 at the end; -EBADMSG. */
int rsys_entry_next(const void *in, size_t length, size_t *at, struct rsys_entry *ret);

/* A root: handle `number`, to be seen at the absolute path `view`. */
struct rsys_root {
    uint32_t number;
    uint32_t flags; /* RSYS_ROOT_READONLY */
    struct rsys_text view;
};
#define RSYS_ROOT_READONLY 1U

bool rsys_root_put(void *out, size_t size, size_t *at, const struct rsys_root *root);
int rsys_root_next(const void *in, size_t length, size_t *at, struct rsys_root *ret);

#endif

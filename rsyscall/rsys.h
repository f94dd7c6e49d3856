/* rsyscall/rsys.h - the protocol of remote system calls, by which a job uses files of the submit
 * machine.
 *
 * The problem: a job on a foreign machine works on its owner's files.  On the job's side is a
 * client: a file system (rsyscall_fuse/) or a library in the job.  In the shadow (the owner's
 * process on the submit machine) is the server (server.h).  Between them is one connection
 * (docs/protocol/rsyscall.md) with requests that have a header of 16 bytes; many are under way at
 * once and are answered in any order.
 *
 * Three decisions come from a network that is cut now and then, and from clients that may be
 * hostile:
 * - Each request uses a slot and the slot's next number.  After a cut, the client sends the
 *   unanswered requests again, on another connection of the same session.  The server recognizes by
 *   the number what it has done already and sends the remembered reply.  The number of slots bounds
 *   what it has to remember.
 * - A file is named by (handle, path below it), as with openat(); an empty path is the handle's own
 *   file.  The server follows no symbolic link: it answers -ELOOP with the link's text, and the
 *   client continues from there, as a kernel does.  So the server has no state except what is open.
 * - Every message has a bound and is checked as a whole before any part of it is used.
 *
 * One table (rsys_codec.c) lists the fields of each operation.  This file and rsys_codec.c use only
 * libc, because they are linked into jobs too.  Their functions always return, and allocate
 * nothing.
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
#define RSYS_OPEN_DATA    ((size_t)64 << 10) /* most data that OPEN returns */
#define RSYS_SLOTS_MAX    128                /* most requests under way at once in a session */
#define RSYS_EXTENTS_MAX  64
#define RSYS_ROOTS_MAX    16
#define RSYS_SESSION_SIZE 16

/* Handles below RSYS_ROOTS_MAX are roots (offered directories); 0 is what the job sees as "/",
 * unless the reply to HELLO said otherwise.  All other handles were given by OPEN and are never
 * 0. */
#define RSYS_ROOT 0

enum rsys_op {
    RSYS_HELLO = 1, /* begins or resumes a session; the first request of a connection */
    RSYS_PING,      /* does nothing; renews the lease */
    RSYS_BYE,       /* ends the session and closes all its handles */
    RSYS_STAT,      /* at -> attr.  Never follows a link */
    RSYS_SETATTR,   /* at, how = RSYS_SET_*, attr -> attr */
    RSYS_ACCESS,    /* at, how = R_OK|W_OK|X_OK */
    RSYS_READLINK,  /* at -> text */
    RSYS_OPEN,      /* at, how = RSYS_OPEN_*, mode, [attr.dev, attr.ino], length -> handle, value,
                       attr, data */
    RSYS_CLOSE,     /* at.handle */
    RSYS_FLUSH,     /* at.handle, owner: the owner closed a descriptor, so its locks are released */
    RSYS_READ,      /* at.handle, offset, length -> value, extents, data */
    RSYS_WRITE,     /* at.handle, extents, data -> value = bytes written, [attr] */
    RSYS_READDIR,   /* at.handle, offset = cookie, length, how = RSYS_DIR_PLUS -> value, data */
    RSYS_MKDIR,     /* at, mode -> attr */
    RSYS_MKNOD,     /* at, mode: a fifo or an empty file -> attr */
    RSYS_SYMLINK,   /* at, text = what the link says -> attr */
    RSYS_LINK,      /* at = the existing file, to = the new name -> attr */
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
    RSYS_CANCEL,    /* slot_of, seq_of: the LOCK that waits in that slot is answered -EINTR now */
    RSYS_OP_END
};

/* Flags of any request: */
#define RSYS_WANT_ATTR 1U /* of WRITE: the reply also has the file's attributes */

/* Values of how for RSYS_OPEN: */
#define RSYS_OPEN_READ      1U
#define RSYS_OPEN_WRITE     2U
#define RSYS_OPEN_APPEND    4U /* each WRITE appends, whatever its offsets are */
#define RSYS_OPEN_CREATE    8U /* in the reply, value = 1 when the file was created */
#define RSYS_OPEN_EXCL      16U
#define RSYS_OPEN_TRUNC     32U
#define RSYS_OPEN_DIRECTORY 64U /* for READDIR, and as the start of paths */
/* without access to the contents: for STAT, and as the start of paths */
#define RSYS_OPEN_PATH 128U
#define RSYS_OPEN_SYNC 256U
/* at is a directory: makes a file without a name; LINK can name it */
#define RSYS_OPEN_TMPFILE 512U
/* Opens again after the session was lost: -ESTALE unless the file is still attr.dev and
 * attr.ino. */
#define RSYS_OPEN_SAME 1024U

/* Values of how for RSYS_SETATTR: */
#define RSYS_SET_MODE      1U
#define RSYS_SET_UID       2U
#define RSYS_SET_GID       4U
#define RSYS_SET_SIZE      8U
#define RSYS_SET_ATIME     16U
#define RSYS_SET_MTIME     32U
#define RSYS_SET_ATIME_NOW 64U
#define RSYS_SET_MTIME_NOW 128U

#define RSYS_DIR_PLUS         1U /* entries include attributes */
#define RSYS_SYNC_DATA        1U /* as fdatasync() */
#define RSYS_RENAME_NOREPLACE 1U
#define RSYS_RENAME_EXCHANGE  2U
#define RSYS_SEEK_DATA        3U
#define RSYS_SEEK_HOLE        4U

/* Values of how for RSYS_LOCK, which locks a range for an owner (fcntl), or with FLOCK the open
 * file as a whole. */
/* F_GETLK: the reply's lock is a conflicting one, or RSYS_UNLOCKED */
#define RSYS_LOCK_GET         1U
#define RSYS_LOCK_FLOCK       2U
#define RSYS_LOCK_WAIT_MS_MAX 60000U

enum rsys_lock_type { RSYS_UNLOCKED, RSYS_LOCK_READ, RSYS_LOCK_WRITE };

/* A text in a message; borrowed from the message's buffer, zero-terminated there, with no other
 * zero. */
struct rsys_text {
    const char *data; /* NULL: the empty text */
    uint16_t length;  /* without the terminating zero */
};

/* A file: path is "a/b/c" below handle; no name in it is empty, "." or "..", or longer than
 * RSYS_NAME_MAX.  Path "" is the handle's own file. */
struct rsys_at {
    uint64_t handle;
    struct rsys_text path;
};

struct rsys_time {
    int64_t s;
    uint32_t ns;
};

struct rsys_attr {
    uint32_t mode; /* type and permissions, as in struct stat */
    uint32_t nlink;
    uint32_t uid, gid;
    uint32_t blksize;
    uint32_t rdev_major, rdev_minor;
    uint64_t dev, ino; /* together they identify a file of this server */
    uint64_t size;
    uint64_t blocks; /* number of 512-byte blocks */
    struct rsys_time atime, mtime, ctime;
};

struct rsys_statfs {
    uint64_t blocks, bfree, bavail; /* numbers of blocks of frsize bytes */
    uint64_t files, ffree;
    uint32_t frsize, namelen;
};

struct rsys_lock {
    uint32_t type; /* enum rsys_lock_type */
    /* RSYS_LOCK_GET: process on the server's machine that holds it; 0: unknown */
    uint32_t pid;
    uint64_t start, length; /* length 0: to the end of the file */
};

struct rsys_extent {
    uint64_t offset;
    uint32_t length; /* bytes of data; the data of all extents follow each other */
};

/* A request.  enum rsys_op lists the fields that each operation uses; other fields are not sent and
 * are 0 after decoding.  Pointers are borrowed from the caller or from the decoded buffer. */
struct rsys_request {
    uint16_t op;   /* enum rsys_op */
    uint16_t slot; /* below the session's number of slots; 0 for HELLO */
    /* 1 for the first request of a slot, then one more each time (0 after 2^32-1); 0 for HELLO */
    uint32_t seq;
    uint32_t flags;
    struct rsys_at at, to;
    struct rsys_text text;
    uint32_t how, mode;
    uint64_t offset, offset_to, length;
    uint64_t owner; /* of a lock: a number by which the client identifies a process */
    uint32_t wait_ms;
    struct rsys_attr attr;
    uint64_t birth; /* RSYS_OPEN_SAME: birth from the reply to the first OPEN; 0: not compared */
    struct rsys_lock lock;
    uint16_t slot_of;
    uint32_t seq_of;
    /* fields of HELLO */
    uint32_t version;
    uint32_t slots;                           /* number of slots wanted */
    unsigned char session[RSYS_SESSION_SIZE]; /* all zero: a new session */
    uint16_t extent_count;
    struct rsys_extent extents[RSYS_EXTENTS_MAX];
    const void *data;
    size_t data_length;
};

/* A reply.  status < 0 is a negative errno (Linux numbers on x86-64); there are then no more
 * fields, except for -ELOOP: value = bytes of the path up to and including the link's name, text =
 * the link's text, and how = 1 when the path was `to`, otherwise it was `at`. */
struct rsys_reply {
    uint16_t op;
    uint16_t slot;
    uint32_t seq;
    int32_t status;
    uint64_t handle;
    uint64_t value;
    uint32_t how;
    struct rsys_text text;
    struct rsys_attr attr; /* mode 0: attributes not known */
    uint64_t birth;        /* when the file was made, in ns since 1970; 0: not known */
    struct rsys_statfs statfs;
    struct rsys_lock lock;
    /* fields of HELLO; the roots are in data, see rsys_root_next() */
    uint32_t version;
    uint32_t slots;    /* number of slots granted */
    uint32_t lease_ms; /* the session ends when the client is silent for longer */
    uint32_t data_max; /* most bytes of data in a message; at most RSYS_DATA_MAX */
    uint32_t uid, gid; /* the user and group as which the server runs */
    unsigned char session[RSYS_SESSION_SIZE];
    uint16_t extent_count;
    struct rsys_extent extents[RSYS_EXTENTS_MAX];
    const void *data;
    size_t data_length;
};

/* Encode the header and fields of a message into out[0..size).  The caller sends the data right
 * after them, so that they need not be copied.  Return the bytes written; -EINVAL (unknown
 * operation, or a text, path or number out of bounds, which a peer would refuse); or -EMSGSIZE
 * (size is too small; RSYS_FIELDS_MAX always suffices). */
int rsys_encode_request(const struct rsys_request *request, void *out, size_t size);
int rsys_encode_reply(const struct rsys_reply *reply, void *out, size_t size);

/* The length of the message that begins at in[0..length), with its data.  0: not known yet (fewer
 * than RSYS_HEADER_SIZE bytes).  -EMSGSIZE: no message has this length, and the connection must be
 * closed. */
int64_t rsys_frame_length(const void *in, size_t length);

/* Decode a whole message.  Return 0, or -EBADMSG; then only op (as received), slot, seq and flags
 * or status of *ret are set. */
int rsys_decode_request(const void *in, size_t length, struct rsys_request *ret);
int rsys_decode_reply(const void *in, size_t length, struct rsys_reply *ret);

/* True when path is valid for struct rsys_at. */
bool rsys_path_is_good(const char *path, size_t length);
/* Splits a path after its last '/'.  Returns the length of the directory part (0 when there is
 * none); *name is the offset of the last name. */
size_t rsys_path_split(const char *path, size_t length, size_t *name);

/* True when the server may execute the operation twice without harm.  Replies to such requests are
 * not remembered; a repeated request is executed again. */
bool rsys_op_is_repeatable(uint16_t op);
const char *rsys_op_name(uint16_t op); /* the name, such as "OPEN"; "?" when unknown */

/* ---- lists in data --------------------------------------------------------------------------- */

/* A directory entry in the data of READDIR.  In its reply, value = 1 means the end of the
 * directory. */
struct rsys_entry {
    uint64_t cookie; /* position of the next entry: offset for the next READDIR */
    uint64_t ino;
    uint32_t type; /* DT_* of <dirent.h> */
    struct rsys_text name;
    bool has_attr;
    struct rsys_attr attr;
};
#define RSYS_ENTRY_MAX 512 /* most bytes of an encoded entry */

/* Appends an entry at out[*at..size).  False, with nothing changed: no room. */
bool rsys_entry_put(void *out, size_t size, size_t *at, const struct rsys_entry *entry);
/* Decodes the next entry.  Returns 1, 0 at the end, or -EBADMSG. */
int rsys_entry_next(const void *in, size_t length, size_t *at, struct rsys_entry *ret);

/* A root in the reply to HELLO: handle `number` is to appear at the absolute path `view`. */
struct rsys_root {
    uint32_t number;
    uint32_t flags; /* RSYS_ROOT_READONLY */
    struct rsys_text view;
};
#define RSYS_ROOT_READONLY 1U

bool rsys_root_put(void *out, size_t size, size_t *at, const struct rsys_root *root);
int rsys_root_next(const void *in, size_t length, size_t *at, struct rsys_root *ret);

#endif

/* ckpt/format.h - the layout of a checkpoint image of a job.
 *
 * An image is an executable for the job's kind of machine: running it resumes the job.  It begins
 * with the program that does so, the stub (ckpt/stub).  Then come the tables described here, and
 * then, on pages of their own, the contents of memory and of files without a name.
 *
 *     offset 0        ELF header and program headers (CKPT_STUB_OFFSET bytes)
 *     ...             the stub: a flat program that finds everything by its own address
 *     tables_offset   struct ckpt_head, then the tables, each an array of one of the structs below
 *     ...             contents: extents, at multiples of CKPT_PAGE; absent pages are not stored
 *
 * The kernel maps stub and tables to addresses that the job does not use, the window, and runs the
 * stub, which maps the rest itself.  A job that was resumed keeps the window.  Its next image does
 * not store the window; it uses the same addresses for its own and so replaces it.
 *
 * All fields have a fixed width and are little-endian, as the machine is.  They refer to other
 * things by index or by offset, never by pointer.  A text is an offset in the table of texts, where
 * it ends with a zero; offset 0 is "", which means none.
 *
 * Read images with image.h, which checks everything.  The stub reads only the tables that it was
 * written with, and checks only their sum.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_FORMAT_H
#define CKPT_FORMAT_H

#include <stdint.h>

#define CKPT_MAGIC       "ROOSTCK\x01"
#define CKPT_VERSION     1
#define CKPT_PAGE        4096U
#define CKPT_STUB_OFFSET 4096U /* of the stub: in the image, and in the window */
/* Stack of each thread in the stub; its extended registers lie above. */
#define CKPT_STACK 16384U
/* Room for the kernel's own pages while memory is being made. */
#define CKPT_PARKING (64U * CKPT_PAGE)

/* Limits: a file that exceeds one is not accepted as an image.  This one includes the page before
 * the stub. */
#define CKPT_STUB_MAX      (1U << 20)
#define CKPT_TABLES_MAX    (1U << 30)
#define CKPT_PROCESSES_MAX 4096U
#define CKPT_THREADS_MAX   65536U
#define CKPT_XSTATE_MAX    16384U
#define CKPT_COMPONENTS    20U /* components of extended registers: all that are known */

enum ckpt_table {
    CKPT_PROCESSES,
    CKPT_REGIONS,
    CKPT_EXTENTS,
    CKPT_THREADS,
    CKPT_FDS,
    CKPT_FILES,
    CKPT_ACTIONS,
    CKPT_SIGNALS,
    CKPT_TIMERS,
    CKPT_LIMITS,
    CKPT_AUXV,
    CKPT_XSTATES,
    CKPT_TEXTS,
    CKPT_WATCHES,
    CKPT_LOCKS,
    CKPT_TABLES
};

struct ckpt_span { /* some entries of a table */
    uint32_t first, count;
};

struct ckpt_array {  /* where a table lies */
    uint64_t offset; /* bytes from the beginning of struct ckpt_head */
    uint64_t count;
};

struct ckpt_component { /* where a component of the extended registers lies; bytes 0: not present */
    uint32_t offset, bytes;
};

struct ckpt_xstate_layout {
    uint64_t features; /* bits as in XCR0 */
    struct ckpt_component components[CKPT_COMPONENTS];
};
/* The image holds only the memory that has changed since another image, its base, was made, and
 * cannot be run.  Merged with its base it gives the whole image that would have been made instead,
 * with the id of the delta: so the next delta can be merged with the result. */
#define CKPT_DELTA 0x1U

struct ckpt_head { /* the beginning of the tables */
    char magic[8];
    uint32_t version;
    uint32_t head_bytes;
    uint64_t tables_bytes;         /* of head and tables */
    uint64_t sum;                  /* CRC32C of head and tables, computed with 0 in this field */
    uint64_t window, window_bytes; /* address and size of the window */
    /* Address in the window: for each thread CKPT_STACK and its extended registers. */
    uint64_t stacks;
    uint64_t stack_bytes; /* of one of these */
    uint64_t meeting;     /* address in the window: a page that all processes share */
    uint64_t parking;     /* address in the window, of CKPT_PARKING bytes */
    uint64_t image_bytes;
    uint64_t memory_bytes;            /* in extents of memory */
    int64_t made_s;                   /* when it was made, seconds since 1970 */
    uint32_t xstate_bytes;            /* size of each thread's extended registers */
    uint32_t linker_room;             /* see machine_linker_room() */
    struct ckpt_xstate_layout xstate; /* layout of the extended registers of all threads */
    uint32_t machine[12];             /* CPUID words at the job's start: enum machine_word */
    int64_t clocks_ns[2]; /* CLOCK_MONOTONIC, CLOCK_BOOTTIME when the job was stopped; 0: unknown */
    uint32_t kernel;      /* text: the kernel's release */
    uint32_t host;        /* text: the machine's name */
    uint32_t self;        /* only in the memory of a resumed process: its index */
    uint32_t code_sum;    /* CRC32C of the stub; 0: unknown (images of older versions) */
    uint64_t id;          /* random: identifies this image */
    uint64_t base_id;     /* for a delta: id of its base */
    uint32_t base;        /* text: name of the base; "": this is a whole image */
    uint32_t flags;       /* CKPT_DELTA or 0 */
    struct ckpt_array tables[CKPT_TABLES];
};

#define CKPT_NOBODY UINT32_MAX /* as an index: no process of the image */

#define CKPT_STOPPED 0x1U /* stopped by a signal */
/* Ended, and its parent has not waited for it yet: only pid, pgid, sid and status are set. */
#define CKPT_ZOMBIE 0x2U

struct ckpt_process { /* a process; parents come before their children */
    int32_t pid;
    uint32_t parent;   /* index; CKPT_NOBODY: the keeper, process 1 of the namespace */
    int32_t pgid, sid; /* process group and session; 0: outside the job */
    uint32_t flags;
    int32_t status; /* of a zombie, as wait() gives it */
    uint32_t umask;
    int32_t exit_signal;
    uint32_t exe, cwd, root; /* texts: paths of the program, the working and the root directory */
    uint32_t command;        /* text: name (comm) of the first thread */
    struct ckpt_span regions, threads, fds, actions, signals, timers, limits, auxv;
    uint64_t start_code, end_code, start_data, end_data, start_brk, brk, start_stack;
    uint64_t arg_start, arg_end, env_start, env_end;
    uint64_t vdso, vdso_bytes, vvar, vvar_bytes; /* 0: it has none */
    uint64_t vdso_sum;                           /* of the code that was mapped */
    uint32_t dumpable, no_new_privs, subreaper, thp_disable;
    int32_t death_signal;
    uint32_t personality;
    uint64_t xstate_allowed; /* components that it asked the kernel to allow; 0: none */
    int64_t itimers[3][4];   /* real, virtual, prof: interval s, us; time left s, us */
};

enum ckpt_region_kind {
    CKPT_MEMORY = 1, /* contents are in the extents, everything else is zeroes */
    CKPT_MAPPED,     /* mapped from an existing file: `file` and map_offset say which, and where */
    CKPT_SHARED_MEMORY, /* memory that processes share: entry `id` of the table of files */
    CKPT_VDSO,          /* the kernel's own code; saved for a kernel that has another one */
    CKPT_VVAR
};

#define CKPT_SHARED     0x01U
#define CKPT_GROWSDOWN  0x02U
#define CKPT_DONTFORK   0x04U
#define CKPT_WIPEONFORK 0x08U
#define CKPT_DONTDUMP   0x10U
#define CKPT_NORESERVE  0x20U
/* Private memory that was mapped from a file: its pages may be mapped from the image. */
#define CKPT_WAS_FILE  0x40U
#define CKPT_HUGE      0x80U
#define CKPT_NOHUGE    0x100U
#define CKPT_LOCKED    0x200U
#define CKPT_MAY_WRITE 0x1000U /* a shared mapping that can be made writable */

struct ckpt_region {
    uint64_t start, end;
    uint64_t map_offset;
    uint64_t id;   /* of shared memory: index in the table of files */
    uint32_t prot; /* as for mmap() */
    uint32_t flags;
    uint32_t kind;
    uint32_t file; /* text: path of the mapped file */
    struct ckpt_span extents;
};

/* For an extent of memory in a delta: contents are as in the base, in the process with the same
 * number, at the same address; zeroes where the base has nothing.  This image holds neither bytes
 * nor a sum for it. */
#define CKPT_IN_BASE 0x1U

struct ckpt_extent { /* contents: a run of pages, or bytes of a file without a name */
    uint64_t start;  /* address, or offset in the file */
    uint64_t bytes;
    uint64_t offset; /* in the image */
    uint32_t sum;    /* CRC32C of the bytes */
    uint32_t flags;  /* CKPT_IN_BASE or 0 */
};

struct ckpt_registers { /* the same as struct user_regs_struct of x86-64 */
    uint64_t r15, r14, r13, r12, rbp, rbx, r11, r10, r9, r8, rax, rcx, rdx, rsi, rdi, orig_rax, rip;
    uint64_t cs, eflags, rsp, ss, fs_base, gs_base, ds, es, fs, gs;
};

/* How a wait with a time limit (a sleep) goes on after a checkpoint with the rest of its time.  The
 * system call is issued by code of the stub at CKPT_WAIT_AT.  The rest of its time is in the
 * record, struct ckpt_wait, which lies on the thread's stack below the red zone.  Either the kernel
 * updates the record whenever the call is interrupted, or the record says when the call must end.
 * After the call the code loads the registers that the job expects and returns to the job.  A job
 * that continues after an image without having been resumed gets a page with the same code when it
 * needs that (tracee_wait_linux.c).  Code, place and record are the same in all versions, because a
 * signal handler of the job may return to the code in a later image. */
#define CKPT_WAIT_AT       64U /* offset in the stub's code */
#define CKPT_WAIT_BYTES    48U /* of the code; it ends with a jump to r11, CKPT_WAIT_JUMP bytes */
#define CKPT_WAIT_JUMP     3U
#define CKPT_WAIT_ROOM     224U /* on the stack: red zone and record */
#define CKPT_SYSCALL_BYTES 2U   /* of a system call instruction */

/* The record: a wait of the job that must go on with the rest of its time. */
struct ckpt_wait {
    int64_t left_s, left_ns;
    uint64_t rdi, rsi, rdx, r10, r8, r9, rip; /* of the job's own system call */
    uint64_t number;                          /* of that call */
    int64_t until_ns; /* end on the job's CLOCK_MONOTONIC; 0: left_s and left_ns are up to date */
    uint64_t pad;
};

struct ckpt_thread {
    int32_t tid;
    uint32_t command;                /* text: name (comm) of the thread */
    struct ckpt_registers registers; /* when they are loaded the thread continues */
    uint32_t xstate;                 /* offset in the table of extended registers */
    uint32_t rseq_bytes, rseq_signature, rseq_flags;
    uint64_t rseq;                 /* address; 0: none */
    uint64_t robust, robust_bytes; /* the list of robust mutexes */
    uint64_t clear_tid;
    uint64_t mask; /* blocked signals */
    uint64_t altstack, altstack_bytes;
    uint32_t altstack_flags;
    uint32_t timer_slack;     /* ns; 0: the default */
    int64_t left_s, left_ns;  /* of the wait that `registers` will issue; negative: not known */
    struct ckpt_span signals; /* pending for this thread */
};

enum ckpt_fd_kind {
    /* Opened by name.  If two standard streams of the job are one open file, id of the second is 1
     * and the index of the first. */
    CKPT_FILE = 1,
    CKPT_NAMELESS, /* a removed file: its contents are those of the memory file `id` */
    /* A pipe; with a path: a FIFO.  The contents are saved with its first reading end. */
    CKPT_PIPE,
    CKPT_STDIO, /* a standard stream: the one that the resuming process has */
    /* Contents without a name: memory that processes share, and removed files.  Regions and open
     * files refer to it by its index, in their id. */
    CKPT_MEMORY_FILE,
    CKPT_STDIO_AGAIN, /* another opening of standard stream `detail` of the resuming process */
    /* One end of a socketpair; id identifies the pair.  Messages that wait to be read there are
     * extents, one for each. */
    CKPT_SOCKET,
    CKPT_EPOLL,
    CKPT_EVENT, /* eventfd: value is its count; detail 1: a semaphore */
    /* timerfd: value is its unread expirations, detail its flags of timerfd_settime(). */
    CKPT_CLOCK,
    CKPT_SIGNAL_FD, /* signalfd: value is its mask */
    CKPT_INOTIFY,
    CKPT_PIDFD, /* value is the process number; 0: that process is gone */
    /* One end of a pseudo-terminal; id identifies the pair.  One extent holds a struct
     * ckpt_terminal, for the pair. */
    CKPT_TERMINAL,
    CKPT_FD_KINDS
};

#define CKPT_IN_MEMORY 0U /* detail of a memory file: it was a memfd, or memory without a file */
#define CKPT_ON_DISK   1U /* detail of a memory file: it was on disk; path says where */

struct ckpt_fd { /* a descriptor */
    int32_t fd;
    /* Index in the table of files: descriptors with the same one share offset and flags. */
    uint32_t file;
    uint32_t cloexec;
    uint32_t pad;
};

struct ckpt_file { /* an open file (what several descriptors can share) */
    uint32_t kind;
    uint32_t path;       /* text: path of the file, if it has one */
    uint32_t flags;      /* as for open(), without O_CREAT, O_EXCL, O_TRUNC */
    uint32_t mode;       /* type and permissions, as st_mode of stat() */
    uint32_t pipe_bytes; /* capacity of a pipe */
    uint32_t stdio;      /* 1 to 3: the job was started with it as 0 to 2; 0: not */
    uint64_t offset;     /* position in the file */
    uint64_t bytes;      /* size when the image was made */
    uint64_t id;         /* meaning depends on kind */
    struct ckpt_span extents;
    /* The fields from here on are used for some kinds only. */
    uint64_t value;
    uint32_t detail;
    int32_t clock; /* of a timerfd: which clock it uses */
    /* Of a timerfd.  The time left is since 1970 if the timer is set to a time of the day. */
    int64_t interval_s, interval_ns, left_s, left_ns;
    uint32_t seals;       /* of a memory file, as F_GET_SEALS gives them */
    uint32_t type;        /* of a socket: SOCK_STREAM ... */
    uint32_t sends;       /* of a socket: SO_SNDBUF */
    uint32_t receives;    /* of a socket: SO_RCVBUF */
    uint32_t passes;      /* of a socket: SO_PASSCRED */
    uint32_t shut;        /* of a socket: 1 shut for reading, 2 for writing */
    uint32_t owner_kind;  /* who gets SIGIO, as for F_SETOWN_EX */
    int32_t owner;        /* 0: nobody */
    int32_t owner_signal; /* the signal that it gets instead of SIGIO: F_SETSIG */
    uint32_t pad;
    int64_t limits_us[2]; /* of a socket: SO_RCVTIMEO, SO_SNDTIMEO; 0: no limit */
};

#define CKPT_SLAVE  0U /* detail of a terminal: the slave end */
#define CKPT_MASTER 1U /* detail of a terminal: the master end */

#define CKPT_TERMINAL_PACKETS 0x1U /* the master is in packet mode: TIOCPKT */
#define CKPT_TERMINAL_LOCKED  0x2U /* the slave cannot be opened: TIOCSPTLCK */
#define CKPT_TERMINAL_LEFT    0x4U /* all who had the slave open have closed it */
#define CKPT_TERMINAL_HUNG_UP 0x8U /* the master was closed */

struct ckpt_terminal {    /* a pseudo-terminal */
    uint8_t settings[44]; /* the kernel's struct termios2 */
    uint16_t window[4];   /* the kernel's struct winsize */
    uint32_t flags;
    int32_t session, group; /* whose controlling terminal it is, foreground group; 0: none */
};

struct ckpt_watch { /* an entry of an epoll or of an inotify */
    uint32_t in;    /* index of the epoll or inotify */
    uint32_t file;  /* for epoll: index of the watched file; else CKPT_NOBODY */
    /* Index of the process that adds it; CKPT_NOBODY: before there are processes. */
    uint32_t process;
    int32_t number; /* descriptor by which the file was added; for inotify the watch's number */
    uint32_t events;
    uint32_t path; /* text, for inotify */
    uint64_t data;
};

enum ckpt_lock_kind {
    CKPT_FLOCK = 1, /* held by an open file */
    CKPT_OFD_LOCK,  /* held by an open file, on a range */
    CKPT_POSIX_LOCK /* held by a process, taken by that descriptor number */
};

struct ckpt_lock {
    uint32_t kind;
    uint32_t file;
    uint32_t process;
    int32_t number;
    uint32_t writes; /* 1: exclusive */
    uint32_t pad;
    uint64_t start, bytes; /* bytes 0: to the end of the file */
};

struct ckpt_action { /* how a signal is handled, as the kernel's struct sigaction */
    uint32_t signal, pad;
    uint64_t handler, flags, restorer, mask;
};

struct ckpt_signal {   /* a pending signal */
    uint8_t info[128]; /* its siginfo_t */
};

struct ckpt_timer { /* a timer of timer_create() */
    int32_t id, clock, notify, signal;
    int32_t tid; /* for SIGEV_THREAD_ID; 0: none */
    uint32_t pad;
    uint64_t value;                                   /* sigev_value */
    int64_t interval_s, interval_ns, left_s, left_ns; /* left 0: not armed */
};

struct ckpt_limit {
    uint32_t resource, pad;
    uint64_t soft, hard;
};

#endif

/* tools/job_filters.c - writes, as C, the filters of system calls that jobs are put under.
 *
 * Design note: what a filter says is known when Roost is built, so libseccomp, which knows the
 * numbers of all calls on all architectures, is asked then, and not by a starter for each job: that
 * costs no time, no memory and no library on the machines, and the static pilot has it, too.  The
 * way rejected is to write the numbers and the jumps by hand.
 *
 * Two filters, one of them for a job, of what is refused (EPERM; ENOSYS where programs then go
 * another way):
 *
 *   standard  what no job needs: calls that change the machine, and corners of the kernel where
 *             faults are found again and again.  Debuggers, compilers, interpreters, and
 *             containers in a user namespace of their own work.
 *   strict    that, and tracing other processes, namespaces, mounts.
 *
 * And one beside them for who may not use the network:
 *
 *   offline   sockets of kinds that a network namespace does not hold: those between a virtual
 *             machine and its host (vsock) are of all namespaces.
 *
 * What needs a privilege is refused by the kernel anyway; here it is a second wall.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <linux/userfaultfd.h>
#include <sched.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

static const char *const STANDARD[] = {
    /* the kernel itself */
    "kexec_load",
    "kexec_file_load",
    "init_module",
    "finit_module",
    "delete_module",
    "create_module",
    "bpf",
    "perf_event_open",
    "lookup_dcookie",
    "syslog",
    "nfsservctl",
    /* keys of others who share the account */
    "add_key",
    "request_key",
    "keyctl",
    /* the machine */
    "reboot",
    "swapon",
    "swapoff",
    "acct",
    "quotactl",
    "quotactl_fd",
    "settimeofday",
    "stime",
    "clock_settime",
    "clock_settime64",
    "sethostname",
    "setdomainname",
    "vhangup",
    "iopl",
    "ioperm",
    "uselib",
    "vm86",
    "vm86old",
    /* a way around the walls of a mount namespace */
    "open_by_handle_at",
};

static const char *const STRICT[] = {
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "process_madvise",
    "kcmp",
    "pidfd_getfd",
    "mount",
    "umount",
    "umount2",
    "pivot_root",
    "chroot",
    "setns",
    "fsopen",
    "fsconfig",
    "fsmount",
    "fspick",
    "move_mount",
    "open_tree",
    "mount_setattr",
};

/* Programs then go another way: an io_uring program polls, the C library uses clone().  While a
 * file of memfd_secret() is open the machine cannot hibernate, and no image of the job can be
 * taken.
 */
static const char *const STANDARD_ABSENT[] = {"io_uring_setup", "io_uring_enter",
                                              "io_uring_register", "memfd_secret"};
static const char *const STRICT_ABSENT[] = {"clone3"}; /* its flags are out of a filter's sight */

/* ioctl(): words put into a terminal as if they had been typed. */
static const unsigned TERMINAL_CALLS[] = {TIOCSTI, 0x541c /* TIOCLINUX */};

#define NAMESPACES                                                                             \
    (CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | \
     CLONE_NEWCGROUP)

#define PERSONALITY_32        ((uint64_t)0x0000008) /* PER_LINUX32 of <sys/personality.h> */
#define PERSONALITY_NO_RANDOM ((uint64_t)0x0040000) /* ADDR_NO_RANDOMIZE */

#define FAMILIES 64U /* more than any kernel knows */

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static int refuse(scmp_filter_ctx filter, const char *const *names, size_t count, int code)
{
    int rc = 0;
    for (size_t i = 0; i < count && rc == 0; i++) {
        int number = seccomp_syscall_resolve_name(names[i]);
        if (number != __NR_SCMP_ERROR) { /* newer than this libseccomp */
            rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO((uint32_t)code), number, 0);
        }
    }
    return rc;
}

static int refuse_flags(scmp_filter_ctx filter, const char *name, unsigned argument)
{
    int rc = 0;
    for (unsigned bit = 0; bit < 32 && rc == 0; bit++) {
        const uint64_t flag = (uint64_t)1 << bit;
        if ((flag & NAMESPACES) != 0) {
            rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), seccomp_syscall_resolve_name(name),
                                  1, SCMP_CMP64(argument, SCMP_CMP_MASKED_EQ, flag, flag));
        }
    }
    return rc;
}

/* userfaultfd() helps to win races in the kernel, unless it is of faults of the program itself
 * only: that is how its checkpoints find out which memory was written to
 * (ckpt/follow/written_linux.c). */
static int refuse_kernel_faults(scmp_filter_ctx filter)
{
    return seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM),
                            seccomp_syscall_resolve_name("userfaultfd"), 1,
                            SCMP_CMP64(0, SCMP_CMP_MASKED_EQ, UFFD_USER_MODE_ONLY, 0));
}

/* A bit is set and another one is not. */
static int refuse_personality(scmp_filter_ctx filter, uint64_t set, uint64_t clear)
{
    return seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM),
                            seccomp_syscall_resolve_name("personality"), 1,
                            SCMP_CMP64(0, SCMP_CMP_MASKED_EQ, set | clear, set));
}

/* personality() takes walls away (pages at address 0, readable memory that can be executed).  What
 * is left: asking (all 32 bits are set), PER_LINUX and PER_LINUX32, both also with addresses that
 * are not random, as debuggers and programs that are resumed from an image want them.
 *
 * A rule compares the argument once.  The other bits, in a ring, are neither all set nor all clear
 * where one is set and the next is not; if they are all set, it is the question or something else.
 */
static int refuse_personalities(scmp_filter_ctx filter)
{
    const uint64_t good[] = {PERSONALITY_32, PERSONALITY_NO_RANDOM};
    uint64_t bits[32];
    size_t count = 0;
    int rc = 0;
    for (unsigned bit = 0; bit < 32; bit++) {
        if (((uint64_t)1 << bit & (good[0] | good[1])) == 0) {
            bits[count++] = (uint64_t)1 << bit;
        }
    }
    for (size_t i = 0; i < count && rc == 0; i++) {
        rc = refuse_personality(filter, bits[i], bits[(i + 1) % count]);
    }
    for (size_t i = 0; i < COUNT(good) && rc == 0; i++) {
        rc = refuse_personality(filter, bits[0], good[i]);
    }
    return rc;
}

/* All but those that are of this machine or of a network namespace.  A program of 32 bits that
 * makes its sockets by socketcall(), where the kind is out of a filter's sight, gets none of them.
 */
static int fill_offline(scmp_filter_ctx filter)
{
    int rc = 0;
    for (unsigned family = AF_UNSPEC; family < FAMILIES && rc == 0; family++) {
        if (family != AF_UNIX && family != AF_INET && family != AF_INET6 && family != AF_NETLINK &&
            family != AF_PACKET) {
            rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EAFNOSUPPORT),
                                  seccomp_syscall_resolve_name("socket"), 1,
                                  SCMP_CMP64(0, SCMP_CMP_MASKED_EQ, 0xffffffffU, family));
        }
    }
    return rc;
}

static int begin(scmp_filter_ctx filter)
{
    int rc = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(ENOSYS));
    rc = rc != 0 ? rc : seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2); /* a tree */
    if (rc == 0 && seccomp_arch_native() == SCMP_ARCH_X86_64) {
        rc = seccomp_arch_add(filter, SCMP_ARCH_X86);
    }
    if (rc == 0 && seccomp_arch_native() == SCMP_ARCH_AARCH64) {
        rc = seccomp_arch_add(filter, SCMP_ARCH_ARM);
    }
    return rc;
}

static int fill(scmp_filter_ctx filter, bool strict)
{
    int rc = refuse(filter, STANDARD, COUNT(STANDARD), EPERM);
    rc = rc != 0 ? rc : refuse_kernel_faults(filter);
    rc = rc != 0 ? rc : refuse_personalities(filter);
    rc = rc != 0 ? rc : refuse(filter, STANDARD_ABSENT, COUNT(STANDARD_ABSENT), ENOSYS);
    for (size_t i = 0; i < COUNT(TERMINAL_CALLS) && rc == 0; i++) { /* the kernel takes 32 bits */
        rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), seccomp_syscall_resolve_name("ioctl"),
                              1, SCMP_CMP64(1, SCMP_CMP_MASKED_EQ, 0xffffffffU, TERMINAL_CALLS[i]));
    }
    if (!strict) {
        return rc;
    }
    rc = rc != 0 ? rc : refuse(filter, STRICT, COUNT(STRICT), EPERM);
    rc = rc != 0 ? rc : refuse(filter, STRICT_ABSENT, COUNT(STRICT_ABSENT), ENOSYS);
    rc = rc != 0 ? rc : refuse_flags(filter, "unshare", 0);
    return rc != 0 ? rc : refuse_flags(filter, "clone", 0);
}

struct code { /* struct sock_filter of the kernel */
    uint16_t code;
    uint8_t jt, jf;
    uint32_t k;
};

static int print(FILE *file, const char *name)
{
    struct code code;
    unsigned count = 0;
    (void)printf("static const struct os_filter_code %s_CODES[] = {\n", name);
    while (fread(&code, sizeof code, 1, file) == 1) {
        (void)printf("    {0x%04x, %u, %u, 0x%08x},\n", code.code, code.jt, code.jf, code.k);
        count++;
    }
    (void)printf("};\nconst struct os_filter job_filter_%s = {%s_CODES, %u};\n\n", name, name,
                 count);
    return count > 0 && !ferror(file) ? 0 : -EIO;
}

enum kind { STANDARD_CALLS, STRICT_CALLS, OFFLINE_SOCKETS };

static int make(const char *name, enum kind kind)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    FILE *file = tmpfile();
    int rc = filter != NULL && file != NULL ? begin(filter) : -ENOMEM;
    if (rc == 0) {
        rc = kind == OFFLINE_SOCKETS ? fill_offline(filter) : fill(filter, kind == STRICT_CALLS);
    }
    rc = rc != 0 ? rc : seccomp_export_bpf(filter, fileno(file));
    if (rc == 0) {
        rewind(file);
        rc = print(file, name);
    }
    if (file != NULL) {
        (void)fclose(file); /* removes it */
    }
    if (filter != NULL) {
        seccomp_release(filter);
    }
    if (rc != 0) {
        (void)fprintf(stderr, "job_filters: %s: %s\n", name, strerror(-rc));
    }
    return rc;
}

int main(int argc, char **argv)
{
    if (argc != 2 || freopen(argv[1], "w", stdout) == NULL) {
        (void)fprintf(stderr, "usage: job_filters FILE\n");
        return 2;
    }
    (void)printf("/* Made by tools/job_filters.c. */\n#include \"starter/job_filter.h\"\n\n");
    int rc = make("standard", STANDARD_CALLS);
    rc = rc != 0 ? rc : make("strict", STRICT_CALLS);
    rc = rc != 0 ? rc : make("offline", OFFLINE_SOCKETS);
    return rc == 0 && fflush(stdout) == 0 ? 0 : 1;
}

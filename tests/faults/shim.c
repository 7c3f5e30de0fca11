/* Preloaded before libc: the call FAULT_AT of those that write fails with ENOSPC.
 *
 * FAULT_MODE: once = only this call; full = this call and all later ones that need space;
 * kill = the process dies at this call. FAULT_FIRED: a file that names the call.
 * FAULT_LOCKS=only: the calls that take and release locks are counted instead.
 * FAULT_EXCHANGE=no: the kernel cannot exchange two files, as of some file systems. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static long at;
static long calls;
static const char *mode;
static long fired = -1;
static int locks_only;

__attribute__((constructor)) static void begin(void) {
    const char *number = getenv("FAULT_AT");
    const char *exchange = getenv("FAULT_EXCHANGE");
    at = number ? atol(number) : 0;
    mode = getenv("FAULT_MODE");
    locks_only = getenv("FAULT_LOCKS") != NULL;
    if (exchange && strcmp(exchange, "no") == 0) {
        struct sock_filter filter[] = {
            BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_renameat2, 0, 1),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };
        struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
    }
    /* Opened now: later, the process may have given up the right to. */
    const char *path = getenv("FAULT_FIRED");
    if (path) fired = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    /* Processes that this one starts are not disturbed. */
    unsetenv("LD_PRELOAD");
}

/* Whether this call fails. */
static int fails(const char *name, int takes_space) {
    if (at == 0 || !mode || locks_only != (strcmp(name, "lock") == 0)) return 0;
    long call = __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST);
    int is_full = strcmp(mode, "full") == 0;
    if (is_full ? call < at || !takes_space : call != at) return 0;
    if (fired >= 0) {
        syscall(SYS_write, fired, name, strlen(name));
        syscall(SYS_write, fired, "\n", 1);
    }
    if (strcmp(mode, "kill") == 0) syscall(SYS_kill, getpid(), SIGKILL);
    errno = ENOSPC;
    return 1;
}

static int is_file(int fd) {
    struct stat data;
    return fd > 2 && fstat(fd, &data) == 0 && S_ISREG(data.st_mode);
}

#define REAL(type, name, ...) ((type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name))

static int is_written(const char *path, int flags) {
    int is_device = strncmp(path, "/dev/", 5) == 0 && strncmp(path, "/dev/shm/", 9) != 0;
    return (flags & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)) && !is_device;
}

#define OPEN(name)                                                                    \
    int name(const char *path, int flags, ...) {                                      \
        va_list rest;                                                                 \
        va_start(rest, flags);                                                        \
        int rights = va_arg(rest, int);                                               \
        va_end(rest);                                                                 \
        if (is_written(path, flags) && fails("open", flags & O_CREAT)) return -1;     \
        return REAL(int, name, const char *, int, ...)(path, flags, rights);          \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                                  \
    int name(int dir, const char *path, int flags, ...) {                             \
        va_list rest;                                                                 \
        va_start(rest, flags);                                                        \
        int rights = va_arg(rest, int);                                               \
        va_end(rest);                                                                 \
        if (is_written(path, flags) && fails("open", flags & O_CREAT)) return -1;     \
        return REAL(int, name, int, const char *, int, ...)(dir, path, flags, rights); \
    }
OPENAT(openat)
OPENAT(openat64)

ssize_t write(int fd, const void *bytes, size_t count) {
    if (is_file(fd) && fails("write", 1)) return -1;
    return REAL(ssize_t, write, int, const void *, size_t)(fd, bytes, count);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
    if (is_file(fd) && fails("write", 1)) return -1;
    return REAL(ssize_t, writev, int, const struct iovec *, int)(fd, parts, count);
}

#define PWRITE(name)                                                                  \
    ssize_t name(int fd, const void *bytes, size_t count, off_t offset) {             \
        if (is_file(fd) && fails("write", 1)) return -1;                              \
        return REAL(ssize_t, name, int, const void *, size_t, off_t)(fd, bytes, count, offset); \
    }
PWRITE(pwrite)
PWRITE(pwrite64)

ssize_t copy_file_range(int in, off_t *from, int out, off_t *to, size_t count, unsigned flags) {
    if (fails("write", 1)) return -1;
    return syscall(SYS_copy_file_range, in, from, out, to, count, flags);
}

#define SYNC(name)                                                                    \
    int name(int fd) {                                                                \
        if (is_file(fd) && fails("sync", 1)) return -1;                               \
        return REAL(int, name, int)(fd);                                              \
    }
SYNC(fsync)
SYNC(fdatasync)

/* SQLite takes and releases its locks with it. */
#define FCNTL(name)                                                                   \
    int name(int fd, int command, ...) {                                              \
        va_list rest;                                                                 \
        va_start(rest, command);                                                      \
        void *argument = va_arg(rest, void *);                                        \
        va_end(rest);                                                                 \
        if (command == F_SETLK && is_file(fd) && fails("lock", 0)) return -1;         \
        return REAL(int, name, int, int, ...)(fd, command, argument);                 \
    }
FCNTL(fcntl)
FCNTL(fcntl64)

#define TRUNCATE(name)                                                                \
    int name(int fd, off_t size) {                                                    \
        if (is_file(fd) && fails("truncate", 1)) return -1;                           \
        return REAL(int, name, int, off_t)(fd, size);                                 \
    }
TRUNCATE(ftruncate)
TRUNCATE(ftruncate64)

int rename(const char *from, const char *to) {
    if (fails("rename", 0)) return -1;
    return REAL(int, rename, const char *, const char *)(from, to);
}

int link(const char *from, const char *to) {
    if (fails("link", 1)) return -1;
    return REAL(int, link, const char *, const char *)(from, to);
}

int linkat(int from_dir, const char *from, int to_dir, const char *to, int flags) {
    if (fails("link", 1)) return -1;
    return REAL(int, linkat, int, const char *, int, const char *, int)(from_dir, from, to_dir, to, flags);
}

int symlink(const char *from, const char *to) {
    if (fails("link", 1)) return -1;
    return REAL(int, symlink, const char *, const char *)(from, to);
}

int mkdir(const char *path, mode_t rights) {
    if (fails("mkdir", 1)) return -1;
    return REAL(int, mkdir, const char *, mode_t)(path, rights);
}

int unlink(const char *path) {
    if (fails("unlink", 0)) return -1;
    return REAL(int, unlink, const char *)(path);
}

int rmdir(const char *path) {
    if (fails("unlink", 0)) return -1;
    return REAL(int, rmdir, const char *)(path);
}

int unlinkat(int dir, const char *path, int flags) {
    if (fails("unlink", 0)) return -1;
    return REAL(int, unlinkat, int, const char *, int)(dir, path, flags);
}

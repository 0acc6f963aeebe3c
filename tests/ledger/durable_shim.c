/* A disk that loses power, and a disk that fails: preloaded into a worker of the crash tests.

   Below SHIM_ROOT (one flat folder) it keeps in SHIM_SHADOW what a power cut would leave, under the harshest reading of
   POSIX: a file's content lasts once the file is synced; its name (made, moved or removed) only once the folder is.

     files/    what a power cut leaves now
     unnamed/  content that is synced, under a name that is not yet
     fresh/    marks names that no longer mean the file kept in files/

   Besides, the n-th call of one kind can fail, fail from then on, or kill the process just before it happens.
   One process at a time, one thread: nothing is locked. */

#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

enum kind { FSYNC, WRITE, OPEN, RENAME, READ, UNLINK, KINDS };
enum { KILL = -1 };

static char root[PATH_MAX], shadow[PATH_MAX];
static size_t root_length;

static int armed_kind = -1, armed_at, armed_error, armed_sticky, fired, half_written;
static int calls[KINDS];

static int (*real_open)(const char *, int, ...), (*real_openat)(int, const char *, int, ...);
static ssize_t (*real_write)(int, const void *, size_t), (*real_pwrite)(int, const void *, size_t, off64_t);
static ssize_t (*real_read)(int, void *, size_t), (*real_pread)(int, void *, size_t, off64_t);
static int (*real_fsync)(int), (*real_fdatasync)(int);
static int (*real_rename)(const char *, const char *), (*real_unlink)(const char *);

__attribute__((constructor)) static void begin(void) {
    const char *said_root = getenv("SHIM_ROOT"), *said_shadow = getenv("SHIM_SHADOW");
    if (said_root) root_length = strlen(strcpy(root, said_root));
    if (said_shadow) strcpy(shadow, said_shadow);
    real_open = dlsym(RTLD_NEXT, "open64");
    real_openat = dlsym(RTLD_NEXT, "openat64");
    real_write = dlsym(RTLD_NEXT, "write");
    real_pwrite = dlsym(RTLD_NEXT, "pwrite64");
    real_read = dlsym(RTLD_NEXT, "read");
    real_pread = dlsym(RTLD_NEXT, "pread64");
    real_fsync = dlsym(RTLD_NEXT, "fsync");
    real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
    real_rename = dlsym(RTLD_NEXT, "rename");
    real_unlink = dlsym(RTLD_NEXT, "unlink");
}

/* The worker's controls, called through ctypes. */

void shim_arm(int kind, int at, int error, int sticky) {
    armed_kind = kind, armed_at = at, armed_error = error, armed_sticky = sticky, fired = half_written = 0;
    memset(calls, 0, sizeof calls);
}

int shim_fired(void) { return fired; }
int shim_calls(int kind) { return calls[kind]; }

/* The name below the root: "" for the root itself, NULL for anything else. */
static const char *name_of(const char *path) {
    if (!root_length || strncmp(path, root, root_length)) return NULL;
    if (path[root_length] == 0) return path + root_length;
    return path[root_length] == '/' && !strchr(path + root_length + 1, '/') ? path + root_length + 1 : NULL;
}

static const char *name_of_open(int file, char *space) {
    char link[64];
    if (!root_length) return NULL;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, space, PATH_MAX - 1);
    if (length < 0) return NULL;
    space[length] = 0;
    return name_of(space);
}

/* Whether this call is the one to fail; then errno is set. */
static int fails(enum kind kind) {
    int now = ++calls[kind];
    if ((int)kind != armed_kind || !(now == armed_at || (armed_sticky && now > armed_at))) return 0;
    fired++;
    if (armed_error == KILL) {
        kill(getpid(), SIGKILL);
        pause();
    }
    errno = armed_error;
    return 1;
}

/* The shadow. A broken shadow would prove nothing, so any trouble with it ends the worker with a number of its own. */

static void must(int good) {
    if (!good) {
        perror("durable_shim");
        _exit(99);
    }
}

static char *in_shadow(char *space, const char *part, const char *name) {
    must(snprintf(space, PATH_MAX, "%s/%s/%s", shadow, part, name) < PATH_MAX);
    return space;
}

static int held(const char *part, const char *name) {
    char path[PATH_MAX];
    return access(in_shadow(path, part, name), F_OK) == 0;
}

static void discard(const char *part, const char *name) {
    char path[PATH_MAX];
    must(real_unlink(in_shadow(path, part, name)) == 0 || errno == ENOENT);
}

static void mark(const char *part, const char *name) {
    char path[PATH_MAX];
    int file = real_open(in_shadow(path, part, name), O_CREAT | O_TRUNC | O_WRONLY, 0600);
    must(file >= 0);
    close(file);
}

static void move(const char *from, const char *from_name, const char *to, const char *to_name) {
    char before[PATH_MAX], after[PATH_MAX];
    must(real_rename(in_shadow(before, from, from_name), in_shadow(after, to, to_name)) == 0);
}

/* Whole or not at all: the worker may be killed in the middle. */
static void copy_to(const char *source, const char *part, const char *name) {
    char draft[PATH_MAX];
    struct stat about;
    int from = real_open(source, O_RDONLY), to = real_open(in_shadow(draft, "draft", name), O_CREAT | O_TRUNC | O_WRONLY, 0600);
    must(from >= 0 && to >= 0 && fstat(from, &about) == 0);
    for (off_t done = 0; done < about.st_size;) must(sendfile(to, from, &done, about.st_size - done) > 0);
    close(from);
    close(to);
    move("draft", name, part, name);
}

static int is_fresh(const char *name) { return held("fresh", name) || !held("files", name); }

static void keep_content(int file, const char *name) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    copy_to(link, is_fresh(name) ? "unnamed" : "files", name);
}

static void keep_names(void) {
    char path[PATH_MAX];
    struct dirent *entry;
    DIR *folder = opendir(root);
    must(folder != NULL);
    while ((entry = readdir(folder))) {
        const char *name = entry->d_name;
        if (!strcmp(name, ".") || !strcmp(name, "..") || !is_fresh(name)) continue;
        if (held("unnamed", name))
            move("unnamed", name, "files", name);
        else
            mark("files", name); /* named on disk, but its content never was synced */
        discard("fresh", name);
    }
    closedir(folder);
    must((folder = opendir(in_shadow(path, "files", "."))) != NULL);
    while ((entry = readdir(folder))) {
        must(snprintf(path, sizeof path, "%s/%s", root, entry->d_name) < PATH_MAX);
        if (access(path, F_OK)) discard("files", entry->d_name), discard("fresh", entry->d_name);
    }
    closedir(folder);
}

static void note_renamed(const char *from, const char *to) {
    char path[PATH_MAX];
    discard("unnamed", to);
    if (held("unnamed", from))
        move("unnamed", from, "unnamed", to);
    else if (!is_fresh(from))
        copy_to(in_shadow(path, "files", from), "unnamed", to);
    mark("fresh", to);
    mark("fresh", from);
}

/* The calls themselves. */

static int sync_file(int file, int (*really)(int)) {
    char space[PATH_MAX];
    struct stat about;
    const char *name = name_of_open(file, space);
    if (name && fails(FSYNC)) return -1;
    int result = really(file);
    if (name && result == 0 && shadow[0]) {
        must(fstat(file, &about) == 0);
        if (S_ISREG(about.st_mode)) keep_content(file, name);
        if (S_ISDIR(about.st_mode)) keep_names();
        errno = 0;
    }
    return result;
}

int fsync(int file) { return sync_file(file, real_fsync); }
int fdatasync(int file) { return sync_file(file, real_fdatasync); }

/* A full disk first takes a part, then nothing. */
static ssize_t write_part(int file, const void *bytes, size_t count, off64_t at) {
    char space[PATH_MAX];
    if (armed_kind == WRITE && name_of_open(file, space)) {
        if (fails(WRITE)) {
            if (armed_error != ENOSPC || half_written++ || count < 2) return -1;
            count /= 2;
        }
    }
    return at < 0 ? real_write(file, bytes, count) : real_pwrite(file, bytes, count, at);
}

ssize_t write(int file, const void *bytes, size_t count) { return write_part(file, bytes, count, -1); }
ssize_t pwrite(int file, const void *bytes, size_t count, off_t at) { return write_part(file, bytes, count, at); }
ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t at) { return write_part(file, bytes, count, at); }

static int read_fails(int file) {
    char space[PATH_MAX];
    return armed_kind == READ && name_of_open(file, space) && fails(READ);
}

ssize_t read(int file, void *bytes, size_t count) { return read_fails(file) ? -1 : real_read(file, bytes, count); }
ssize_t pread(int file, void *bytes, size_t count, off_t at) {
    return read_fails(file) ? -1 : real_pread(file, bytes, count, at);
}
ssize_t pread64(int file, void *bytes, size_t count, off64_t at) {
    return read_fails(file) ? -1 : real_pread(file, bytes, count, at);
}

static mode_t mode_of(int flags, va_list more) { return flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0; }

#define AN_OPEN(NAME)                                                     \
    int NAME(const char *path, int flags, ...) {                          \
        va_list more;                                                     \
        va_start(more, flags);                                            \
        mode_t mode = mode_of(flags, more);                               \
        va_end(more);                                                     \
        return name_of(path) && fails(OPEN) ? -1 : real_open(path, flags, mode); \
    }
#define AN_OPENAT(NAME)                                                   \
    int NAME(int folder, const char *path, int flags, ...) {              \
        va_list more;                                                     \
        va_start(more, flags);                                            \
        mode_t mode = mode_of(flags, more);                               \
        va_end(more);                                                     \
        return name_of(path) && fails(OPEN) ? -1 : real_openat(folder, path, flags, mode); \
    }
AN_OPEN(open)
AN_OPEN(open64)
AN_OPENAT(openat)
AN_OPENAT(openat64)

int rename(const char *from, const char *to) {
    const char *name = name_of(from), *new_name = name_of(to);
    if (name && fails(RENAME)) return -1;
    int result = real_rename(from, to);
    if (name && new_name && result == 0 && shadow[0]) note_renamed(name, new_name);
    return result;
}

int unlink(const char *path) {
    const char *name = name_of(path);
    if (name && fails(UNLINK)) return -1;
    int result = real_unlink(path);
    if (name && result == 0 && shadow[0]) {
        discard("unnamed", name);
        if (held("files", name)) mark("fresh", name);
    }
    return result;
}

/* Provides files and randomness for test programs that Emscripten links as standalone WASI commands. In such programs,
 * Emscripten's C library has no files, because it expects JavaScript to provide them. This file implements the system
 * calls that the tests use. The implementation calls functions of WASI (preview 1), which the host provides (wasi.mjs).
 * WASI and the C library use the same error numbers. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wasi/api.h>

/* The descriptor of the host's root folder. The root is also the working directory. */
enum { root = 3, most_descriptors = 256, entry_size = sizeof(struct dirent) };

static __wasi_dircookie_t positions[most_descriptors]; /* in folders that are being listed */

static const char* below_root(const char* path) {
  while (*path == '/') ++path;
  return *path == 0 ? "." : path;
}

static int result(__wasi_errno_t error) { return -(int)error; }

static int open_below_root(const char* path, int flags) {
  __wasi_fd_t opened = 0;
  __wasi_oflags_t how = 0;
  if (flags & O_CREAT) how |= __WASI_OFLAGS_CREAT;
  if (flags & O_EXCL) how |= __WASI_OFLAGS_EXCL;
  if (flags & O_TRUNC) how |= __WASI_OFLAGS_TRUNC;
  if (flags & O_DIRECTORY) how |= __WASI_OFLAGS_DIRECTORY;
  __wasi_rights_t rights = __WASI_RIGHTS_FD_READ | __WASI_RIGHTS_FD_SEEK | __WASI_RIGHTS_FD_READDIR;
  if ((flags & O_ACCMODE) != O_RDONLY) rights |= __WASI_RIGHTS_FD_WRITE;
  if (*path == 0) return -ENOENT;
  path = below_root(path);
  const __wasi_errno_t error =
      __wasi_path_open(root, __WASI_LOOKUPFLAGS_SYMLINK_FOLLOW, path, strlen(path), how, rights, rights,
                       (flags & O_APPEND) ? __WASI_FDFLAGS_APPEND : 0, &opened);
  if (error != 0) return result(error);
  if (opened >= most_descriptors) return -EMFILE;
  positions[opened] = 0;
  return (int)opened;
}
int __syscall_open(const char* path, int flags, ...) { return open_below_root(path, flags); }
int __syscall_openat(int folder, const char* path, int flags, ...) {
  return folder == AT_FDCWD || *path == '/' ? open_below_root(path, flags) : -ENOSYS;
}

static struct timespec time_of(__wasi_timestamp_t nanoseconds) {
  const struct timespec time = {.tv_sec = (time_t)(nanoseconds / 1000000000),
                                .tv_nsec = (long)(nanoseconds % 1000000000)};
  return time;
}
static mode_t mode_of(__wasi_filetype_t type) {
  switch (type) {
    case __WASI_FILETYPE_DIRECTORY:
      return S_IFDIR | 0755;
    case __WASI_FILETYPE_REGULAR_FILE:
      return S_IFREG | 0644;
    default:
      return S_IFCHR | 0666;
  }
}
static int put_status(__wasi_errno_t error, const __wasi_filestat_t* from, struct stat* to) {
  if (error != 0) return result(error);
  memset(to, 0, sizeof *to);
  to->st_dev = from->dev;
  to->st_ino = from->ino;
  to->st_mode = mode_of(from->filetype);
  to->st_nlink = 1;
  to->st_size = (off_t)from->size;
  to->st_mtim = time_of(from->mtim);
  return 0;
}
int __syscall_fstat64(int file, struct stat* status) {
  __wasi_filestat_t found;
  return put_status(__wasi_fd_filestat_get((__wasi_fd_t)file, &found), &found, status);
}
int __syscall_stat64(const char* path, struct stat* status) {
  __wasi_filestat_t found;
  if (*path == 0) return -ENOENT;
  path = below_root(path);
  return put_status(__wasi_path_filestat_get(root, __WASI_LOOKUPFLAGS_SYMLINK_FOLLOW, path, strlen(path), &found),
                    &found, status);
}
int __syscall_lstat64(const char* path, struct stat* status) { return __syscall_stat64(path, status); }
static int status_at(int folder, const char* path, struct stat* status) {
  if (*path == 0) return __syscall_fstat64(folder, status);
  return folder == AT_FDCWD || *path == '/' ? __syscall_stat64(path, status) : -ENOSYS;
}
int __syscall_fstatat64(int folder, const char* path, struct stat* status, int flags) {
  (void)flags;
  return status_at(folder, path, status);
}
int __syscall_newfstatat(int folder, const char* path, struct stat* status, int flags) {
  (void)flags;
  return status_at(folder, path, status);
}
int __syscall_access(const char* path, int mode) {
  struct stat ignored;
  (void)mode;
  return __syscall_stat64(path, &ignored);
}
int __syscall_faccessat(int folder, const char* path, int mode, int flags) {
  struct stat ignored;
  (void)mode, (void)flags;
  return status_at(folder, path, &ignored);
}
int __syscall_readlink(const char* path, char* to, size_t size) {
  (void)path, (void)to, (void)size;
  return -EINVAL; /* no link: the host has followed it */
}
int __syscall_readlinkat(int folder, const char* path, char* to, size_t size) {
  (void)folder;
  return __syscall_readlink(path, to, size);
}
int __syscall_getcwd(char* to, size_t size) {
  if (size < 2) return -ERANGE;
  memcpy(to, "/", 2);
  return 2;
}

/* Reads the entries of a folder, one entry for each call of WASI. */
int __syscall_getdents64(int folder, struct dirent* to, size_t size) {
  uint8_t found[sizeof(__wasi_dirent_t) + sizeof to->d_name];
  size_t written = 0;
  for (; written + entry_size <= size; written += entry_size, ++to) {
    __wasi_size_t used = 0;
    __wasi_dirent_t entry;
    const __wasi_errno_t error = __wasi_fd_readdir((__wasi_fd_t)folder, found, sizeof found, positions[folder], &used);
    if (error != 0) return result(error);
    if (used < sizeof entry) break;
    memcpy(&entry, found, sizeof entry);
    if (entry.d_namlen >= sizeof to->d_name) return -ENAMETOOLONG;
    memset(to, 0, entry_size);
    to->d_ino = entry.d_ino;
    to->d_off = (off_t)entry.d_next;
    to->d_reclen = entry_size;
    to->d_type = entry.d_type == __WASI_FILETYPE_DIRECTORY ? DT_DIR : DT_REG;
    memcpy(to->d_name, found + sizeof entry, entry.d_namlen);
    positions[folder] = entry.d_next;
  }
  return (int)written;
}

int __syscall_mkdir(const char* path, int mode) {
  (void)mode;
  path = below_root(path);
  return result(__wasi_path_create_directory(root, path, strlen(path)));
}
int __syscall_mkdirat(int folder, const char* path, int mode) {
  (void)folder;
  return __syscall_mkdir(path, mode);
}
int __syscall_rmdir(const char* path) {
  path = below_root(path);
  return result(__wasi_path_remove_directory(root, path, strlen(path)));
}
int __syscall_unlink(const char* path) {
  path = below_root(path);
  return result(__wasi_path_unlink_file(root, path, strlen(path)));
}
int __syscall_unlinkat(int folder, const char* path, int flags) {
  if (folder != AT_FDCWD && *path != '/') return -ENOSYS;
  return (flags & AT_REMOVEDIR) ? __syscall_rmdir(path) : __syscall_unlink(path);
}

/* This definition is weak, because newer versions of Emscripten define this function, too. */
__attribute__((weak)) int getentropy(void* to, size_t size) {
  const __wasi_errno_t error = __wasi_random_get(to, size);
  if (error != 0) errno = (int)error;
  return error == 0 ? 0 : -1;
}

/* Implements mmap only for reading a file: copies the file into memory. */
void* mmap(void* start, size_t size, int protection, int flags, int file, off_t offset) {
  void* memory = NULL;
  (void)start, (void)protection;
  if (flags & MAP_FIXED || posix_memalign(&memory, 4096, size) != 0) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  memset(memory, 0, size);
  for (size_t have = 0; file >= 0 && have < size;) {
    const ssize_t more = pread(file, (char*)memory + have, size - have, offset + (off_t)have);
    if (more < 0) {
      free(memory);
      return MAP_FAILED;
    }
    if (more == 0) break;
    have += (size_t)more;
  }
  return memory;
}
int munmap(void* memory, size_t size) {
  (void)size;
  free(memory);
  return 0;
}

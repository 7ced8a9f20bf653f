// What the reference programs share: an error ends the program, in one line.
#pragma once
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static inline void die(const char *call) {
    perror(call);
    exit(74);
}

// The result of malloc or realloc.
static inline void *got(void *memory) {
    if (!memory) die("malloc");
    return memory;
}

static inline int open_file(const char *path, int flags) {
    int fd = open(path, flags, 0666);
    if (fd < 0) die(path);
    return fd;
}

static inline FILE *open_stream(const char *path, const char *mode) {
    FILE *stream = fopen(path, mode);
    if (!stream) die(path);
    return stream;
}

static inline size_t size_of(int fd) {
    struct stat about;
    if (fstat(fd, &about)) die("fstat");
    return about.st_size;
}

// The whole file, mapped. An empty one can't be: NULL.
static inline unsigned char *map_file(int fd, size_t size, int protection, int flags) {
    if (size == 0) return NULL;
    void *map = mmap(NULL, size, protection, flags, fd, 0);
    if (map == MAP_FAILED) die("mmap");
    return map;
}

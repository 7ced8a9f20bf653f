// Where the lines of a file begin, and what is printed of them.
#pragma once
#include "common.h"
#include "crc32.h"

struct lines {
    int split; // The lines' contents are kept too.
    uint64_t *starts;
    char **kept; // Lines that each have memory of their own.
    size_t count, room, longest;
    uint64_t bytes;
};

static inline struct lines lines_start(int argc, char **argv) {
    struct lines lines = {0};
    if (argc == 3 && !strcmp(argv[1], "split")) lines.split = 1;
    if (argc != 3 || (!lines.split && strcmp(argv[1], "index"))) {
        fprintf(stderr, "usage: %s index|split FILE\n", argv[0]);
        exit(64);
    }
    return lines;
}

// The next line has `length` bytes, its newline included.
static inline void lines_add(struct lines *lines, size_t length) {
    if (lines->count == lines->room) {
        lines->room = lines->room ? 2 * lines->room : 1024;
        lines->starts = got(realloc(lines->starts, lines->room * sizeof *lines->starts));
    }
    lines->starts[lines->count++] = lines->bytes;
    lines->bytes += length;
    if (length > lines->longest) lines->longest = length;
}

// CRC-32 over lines that each have memory of their own. Short ones are gathered first: the fast way
// needs some length.
static inline uint32_t crc32_kept(const struct lines *lines) {
    static char gathered[32 << 10];
    size_t filled = 0;
    uint32_t crc = 0;
    for (size_t i = 0; i < lines->count; i++) {
        uint64_t end = i + 1 < lines->count ? lines->starts[i + 1] : lines->bytes;
        size_t length = end - lines->starts[i];
        if (length > sizeof gathered - filled) {
            crc = crc32(crc, gathered, filled);
            filled = 0;
        }
        if (length > sizeof gathered) {
            crc = crc32(crc, lines->kept[i], length);
        } else {
            memcpy(gathered + filled, lines->kept[i], length);
            filled += length;
        }
    }
    return crc32(crc, gathered, filled);
}

// Prints what was found, and proves it. Contents that were kept stand in `contents`, or each line
// in `kept`.
static inline void lines_finish(const struct lines *lines, const void *contents) {
    uint32_t starts = crc32(0, lines->starts, lines->count * sizeof *lines->starts);
    printf("%s %zu:%zu:%08x", lines->split ? "split" : "index", lines->count, lines->longest, starts);
    if (lines->split) {
        printf(":%08x", lines->kept ? crc32_kept(lines) : crc32(0, contents, lines->bytes));
    }
    printf("  %zu bytes\n", (size_t)lines->bytes);
}

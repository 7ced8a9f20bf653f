// Lines of text that arrives in chunks: what is left of a chunk is carried over to the next.
#pragma once
#include "lines.h"

#define CHUNK (256 << 10)

struct chunks {
    char *text;
    size_t line; // Where the unfinished line begins.
    size_t filled, room;
};

// Where the next chunk goes.
static inline char *chunks_room(struct chunks *chunks) {
    if (chunks->room - chunks->filled < CHUNK) {
        chunks->room = 2 * chunks->room + CHUNK;
        chunks->text = got(realloc(chunks->text, chunks->room));
    }
    return chunks->text + chunks->filled;
}

// The next chunk has `count` bytes. To keep the lines, the text just grows.
static inline void chunks_add(struct chunks *chunks, size_t count, struct lines *lines) {
    char *line = chunks->text + chunks->line, *from = chunks->text + chunks->filled;
    char *end = from + count, *newline;
    while ((newline = memchr(from, '\n', end - from))) {
        if (lines->split) *newline = 0;
        from = newline + 1;
        lines_add(lines, from - line);
        line = from;
    }
    if (lines->split) {
        chunks->line = line - chunks->text;
        chunks->filled += count;
    } else {
        chunks->filled = end - line;
        memmove(chunks->text, line, chunks->filled);
    }
}

static inline void chunks_finish(struct chunks *chunks, struct lines *lines) {
    if (chunks->filled > chunks->line) lines_add(lines, chunks->filled - chunks->line);
    lines_finish(lines, chunks->text);
}

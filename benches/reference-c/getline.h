// All lines of a stream by getline; to keep them, each has memory of its own.
#pragma once
#include "lines.h"

static inline void getlines(struct lines *lines, FILE *stream) {
    char *line = NULL;
    size_t capacity = 0, room = 0;
    ssize_t length;
    while ((length = getline(&line, &capacity, stream)) >= 0) {
        lines_add(lines, length);
        if (lines->split) {
            if (line[length - 1] == '\n') line[length - 1] = 0;
            if (room < lines->room) {
                room = lines->room;
                lines->kept = got(realloc(lines->kept, room * sizeof *lines->kept));
            }
            lines->kept[lines->count - 1] = line;
            line = NULL;
            capacity = 0;
        }
    }
    if (ferror(stream)) die("getline");
}

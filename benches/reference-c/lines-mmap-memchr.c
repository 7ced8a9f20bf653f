// Maps the file and looks for each newline with memchr.
#include "lines.h"

int main(int argc, char **argv) {
    struct lines lines = lines_start(argc, argv);
    int fd = open_file(argv[2], O_RDONLY);
    size_t size = size_of(fd);
    int protection = lines.split ? PROT_READ | PROT_WRITE : PROT_READ;
    unsigned char *map = map_file(fd, size, protection, MAP_PRIVATE);
    for (unsigned char *at = map, *end = map + size; at < end;) {
        unsigned char *newline = memchr(at, '\n', end - at);
        unsigned char *next = newline ? newline + 1 : end;
        if (lines.split && newline) *newline = 0;
        lines_add(&lines, next - at);
        at = next;
    }
    lines_finish(&lines, map);
}

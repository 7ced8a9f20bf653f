// read(2), chunk by chunk.
#include "chunks.h"

int main(int argc, char **argv) {
    struct lines lines = lines_start(argc, argv);
    struct chunks chunks = {0};
    int fd = open_file(argv[2], O_RDONLY);
    ssize_t count;
    while ((count = read(fd, chunks_room(&chunks), CHUNK)) > 0) chunks_add(&chunks, count, &lines);
    if (count < 0) die("read");
    chunks_finish(&chunks, &lines);
}

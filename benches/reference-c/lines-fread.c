// fread(3), chunk by chunk.
#include "chunks.h"

int main(int argc, char **argv) {
    struct lines lines = lines_start(argc, argv);
    struct chunks chunks = {0};
    FILE *stream = open_stream(argv[2], "r");
    size_t count;
    while ((count = fread(chunks_room(&chunks), 1, CHUNK, stream)) > 0) chunks_add(&chunks, count, &lines);
    if (ferror(stream)) die("fread");
    chunks_finish(&chunks, &lines);
}

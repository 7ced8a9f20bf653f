// Maps the file, opens a stream on the map, and reads it with getline.
#include "getline.h"

int main(int argc, char **argv) {
    struct lines lines = lines_start(argc, argv);
    int fd = open_file(argv[2], O_RDONLY);
    size_t size = size_of(fd);
    unsigned char *map = map_file(fd, size, PROT_READ, MAP_PRIVATE);
    if (map) {
        FILE *stream = fmemopen(map, size, "r");
        if (!stream) die("fmemopen");
        getlines(&lines, stream);
    }
    lines_finish(&lines, NULL);
}

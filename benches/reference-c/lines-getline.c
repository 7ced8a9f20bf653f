// Opens a stream and reads it with getline.
#include "getline.h"

int main(int argc, char **argv) {
    struct lines lines = lines_start(argc, argv);
    getlines(&lines, open_stream(argv[2], "r"));
    lines_finish(&lines, NULL);
}

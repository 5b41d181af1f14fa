// Runs a fuzz target over the files of a folder, by name: the corpora are tests in every build.
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int run_file(const char *name)
{
    FILE *file = fopen(name, "rb");
    if (!file) {
        return 0;
    }
    static uint8_t data[1 << 20];
    size_t size = fread(data, 1, sizeof data, file);
    fclose(file);
    // An exact copy, so that reading one byte too far is seen.
    uint8_t *copy = malloc(size ? size : 1);
    for (size_t i = 0; copy && i < size; i++) {
        copy[i] = data[i];
    }
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
    return 1;
}

int main(int argc, char **argv)
{
    struct dirent **entries = NULL;
    int n = argc > 1 ? scandir(argv[1], &entries, NULL, alphasort) : 0, count = 0;

    for (int i = 0; i < n; i++) {
        char name[4096];
        snprintf(name, sizeof name, "%s/%s", argv[1], entries[i]->d_name);
        if (entries[i]->d_name[0] != '.') {
            count += run_file(name);
        }
        free(entries[i]);
    }
    free(entries);
    if (count == 0) {
        fprintf(stderr, "no corpus in %s\n", argc > 1 ? argv[1] : "(no folder given)");
        return 1;
    }
    printf("%d inputs passed\n", count);
    return 0;
}

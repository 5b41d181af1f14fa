// Any text as a configuration file: settings, or an error that names the place.
#include "fuzz.h"

#include "base/config.h"

#include <sys/mman.h>
#include <unistd.h>

static const Option options[] = {
    {"http.listen", "127.0.0.1:9130", "", false},
    {"http.body_mib", "32", "", false},
    {"test.hooks", "off", "", false},
    {0},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int file = -1;
    char path[32];
    Config *config = config_new(options);

    file = file < 0 ? memfd_create("config", MFD_CLOEXEC) : file;
    HOLDS(ftruncate(file, 0) == 0 && pwrite(file, data, size, 0) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    Err *err = config_read_file(config, path);
    HOLDS(!err || (err->status == 400 && err->message.len > 0));
    HOLDS(config_text(config, "http.listen").at);
    (void)config_flag(config, "test.hooks");
    config_free(config);
    arena_reset(arena_current());
    return 0;
}

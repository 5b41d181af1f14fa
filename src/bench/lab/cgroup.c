// Control groups, version 2 and the memory controller of version 1.
#include "cgroup.h"

#include "experiment.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROOT_V2 "/sys/fs/cgroup"
#define ROOT_V1 "/sys/fs/cgroup/memory"

static bool write_file(Str file, const char *text)
{
    FILE *to = fopen(str_z(file), "w");
    bool is_written = to && fputs(text, to) >= 0;

    return (to ? fclose(to) == 0 : false) && is_written;
}

bool cgroup_make(Str limit, Str *folder)
{
    int64_t bytes = 0;
    bool is_v2 = access(ROOT_V2 "/cgroup.controllers", F_OK) == 0;
    Str made = str_fmt("%s/octavo-lab-%d", is_v2 ? ROOT_V2 : ROOT_V1, (int)getpid());
    const char *file = is_v2 ? "memory.max" : "memory.limit_in_bytes";

    if (!experiment_bytes(limit, &bytes) || mkdir(str_z(made), 0755)) {
        return false;
    }
    if (!write_file(str_fmt(STR_FMT "/%s", STR_ARG(made), file),
                    str_z(str_fmt("%lld", (long long)bytes)))) {
        rmdir(str_z(made));
        return false;
    }
    *folder = made;
    return true;
}

void cgroup_remove(Str folder)
{
    rmdir(str_z(folder));
}

static Str existing(Str folder, const char *name)
{
    Str file = str_fmt(STR_FMT "/%s", STR_ARG(folder), name);
    return access(str_z(file), R_OK) == 0 ? file : S("");
}

// The path of the process within the hierarchy: "0::PATH" or "N:...memory...:PATH".
static Str path_of(int pid, const char *controller)
{
    FILE *file = fopen(str_z(str_fmt("/proc/%d/cgroup", pid)), "r");
    char line[1024];
    Str found = {0};

    while (file && !found.len && fgets(line, sizeof line, file)) {
        Str rest = str_trim(str_of(line)), number, controllers;
        bool is_whole = str_next(&rest, ':', &number) && str_next(&rest, ':', &controllers);
        if (is_whole && str_eq_z(controllers, controller)) {
            found = str_copy(arena_current(), rest);
        }
    }
    if (file) {
        fclose(file);
    }
    return str_eq(found, S("/")) ? S("") : found;
}

CgroupFiles cgroup_files(int pid)
{
    CgroupFiles files = {.is_v2 = access(ROOT_V2 "/cgroup.controllers", F_OK) == 0};
    Str folder = str_fmt("%s" STR_FMT, files.is_v2 ? ROOT_V2 : ROOT_V1,
                         STR_ARG(path_of(pid, files.is_v2 ? "" : "memory")));

    files.memory_current =
        existing(folder, files.is_v2 ? "memory.current" : "memory.usage_in_bytes");
    files.memory_max = existing(folder, files.is_v2 ? "memory.max" : "memory.limit_in_bytes");
    if (files.is_v2) {
        files.cpu_stat = existing(folder, "cpu.stat");
    }
    return files;
}

// Memory limits by control groups, where the system lets the lab make one.
#pragma once

#include "base/err.h"

// Makes a group with the limit ("2GiB"); its folder. False if the system does not allow it.
bool cgroup_make(Str limit, Str *folder);
void cgroup_remove(Str folder);

// Files of the group that a process is in: memory use and limit, throttling, pressure.
typedef struct {
    Str memory_current, memory_max, cpu_stat, pressure; // empty = there is none
    bool is_v2;
} CgroupFiles;
CgroupFiles cgroup_files(int pid);

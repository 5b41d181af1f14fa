// Processes and the machine as the kernel sees them.
#include "sampler.h"

#include "cgroup.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    FILE_BYTES_MAX = 16384,
    DISK_SECTOR = 512,
};

static const Figure cpu_user = {"cpu.user", UNIT_S, true};
static const Figure cpu_system = {"cpu.system", UNIT_S, true};
static const Figure memory_rss = {"memory.rss", UNIT_BYTES, false};
static const Figure memory_pss = {"memory.pss", UNIT_BYTES, false};
static const Figure memory_peak = {"memory.peak", UNIT_BYTES, false};
static const Figure memory_anonymous = {"memory.anonymous", UNIT_BYTES, false};
static const Figure memory_file = {"memory.file", UNIT_BYTES, false};
static const Figure memory_cgroup = {"memory.cgroup", UNIT_BYTES, false};
static const Figure memory_limit = {"memory.limit", UNIT_BYTES, false};
static const Figure faults_minor = {"faults.minor", UNIT_COUNT, true};
static const Figure faults_major = {"faults.major", UNIT_COUNT, true};
static const Figure switches_waiting = {"switches.voluntary", UNIT_COUNT, true};
static const Figure switches_forced = {"switches.forced", UNIT_COUNT, true};
static const Figure thread_count = {"threads", UNIT_COUNT, false};
static const Figure file_count = {"files", UNIT_COUNT, false};
static const Figure io_read = {"io.read", UNIT_BYTES, true};
static const Figure io_written = {"io.written", UNIT_BYTES, true};
static const Figure throttled = {"throttled", UNIT_S, true};
static const Figure driver_cpu = {"cpu", UNIT_S, true};
static const Figure driver_memory = {"memory", UNIT_BYTES, false};

// The whole of a small file, NUL-terminated; "" if it cannot be read.
static char *read_small(const char *name)
{
    static __thread char text[FILE_BYTES_MAX];
    int file = open(name, O_RDONLY | O_CLOEXEC);
    ssize_t n = 0;
    size_t len = 0;

    while (file >= 0 && (n = read(file, text + len, sizeof text - 1 - len)) > 0) {
        len += (size_t)n;
    }
    if (file >= 0) {
        close(file);
    }
    text[len] = 0;
    return text;
}

static const char *proc_file(int pid, const char *name)
{
    static __thread char path[64];

    snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
    return path;
}

// The number behind the words at the begin of a line; NAN if they are not there.
static double number_behind(const char *text, const char *words)
{
    size_t n = strlen(words);

    for (const char *line = text; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, words, n) == 0) {
            return strtod(line + n, NULL);
        }
    }
    return NAN;
}

static void set_process(SampleTable *table, const Figure *figure, double value)
{
    table_set(table, GROUP_PROCESS, "server", figure, value);
}

// Fields of /proc/PID/stat count from 3 behind the name in parentheses.
static void sample_stat(SampleTable *table, int pid)
{
    const char *text = strrchr(read_small(proc_file(pid, "stat")), ')');
    double fields[25] = {0}, tick = (double)sysconf(_SC_CLK_TCK);
    char *at = text ? (char *)text + 3 : NULL;

    if (!at) {
        return;
    }
    for (int i = 3; i < 25 && *at; i++) {
        if (i == 3) {
            at++; // the state, a letter
        } else {
            fields[i] = strtod(at, &at);
        }
    }
    set_process(table, &faults_minor, fields[10]);
    set_process(table, &faults_major, fields[12]);
    set_process(table, &cpu_user, fields[14] / tick);
    set_process(table, &cpu_system, fields[15] / tick);
    set_process(table, &thread_count, fields[20]);
}

static void sample_status(SampleTable *table, int pid)
{
    const char *text = read_small(proc_file(pid, "status"));

    set_process(table, &memory_rss, number_behind(text, "VmRSS:") * 1024);
    set_process(table, &memory_peak, number_behind(text, "VmHWM:") * 1024);
    set_process(table, &memory_anonymous, number_behind(text, "RssAnon:") * 1024);
    set_process(table, &memory_file, number_behind(text, "RssFile:") * 1024);
    set_process(table, &switches_waiting, number_behind(text, "voluntary_ctxt_switches:"));
    set_process(table, &switches_forced, number_behind(text, "nonvoluntary_ctxt_switches:"));
    text = read_small(proc_file(pid, "smaps_rollup"));
    set_process(table, &memory_pss, number_behind(text, "Pss:") * 1024);
    text = read_small(proc_file(pid, "io"));
    set_process(table, &io_read, number_behind(text, "read_bytes:"));
    set_process(table, &io_written, number_behind(text, "write_bytes:"));
}

static void sample_files(SampleTable *table, int pid)
{
    DIR *dir = opendir(proc_file(pid, "fd"));
    double n = -2; // "." and ".."

    if (!dir) {
        return;
    }
    while (readdir(dir)) {
        n++;
    }
    closedir(dir);
    set_process(table, &file_count, n);
}

static double number_in(Str file)
{
    char *end = NULL;
    const char *text = file.len ? read_small(str_z(file)) : "";
    double value = strtod(text, &end);

    return end == text ? NAN : value; // "max" = no limit
}

static void sample_cgroup(SampleTable *table, int pid)
{
    CgroupFiles files = cgroup_files(pid);
    double current = number_in(files.memory_current), limit = number_in(files.memory_max);

    if (!isnan(limit) && limit < 9e18) {
        // The figure of the whole machine says nothing about the process.
        set_process(table, &memory_cgroup, current);
        set_process(table, &memory_limit, limit);
    }
    if (files.cpu_stat.len) {
        double usec = number_behind(read_small(str_z(files.cpu_stat)), "throttled_usec ");
        set_process(table, &throttled, usec / 1e6);
    }
}

void sample_process(SampleTable *table, int pid)
{
    sample_stat(table, pid);
    sample_status(table, pid);
    sample_files(table, pid);
    sample_cgroup(table, pid);
}

void sample_driver(SampleTable *table)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    table_set(table, GROUP_DRIVER, "", &driver_cpu,
              (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                  (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6);
    const char *text = read_small("/proc/self/status");
    table_set(table, GROUP_DRIVER, "", &driver_memory, number_behind(text, "RssAnon:") * 1024);
}

// Sums of the whole disks, not of their parts.
static void sample_disks(SampleTable *table)
{
    static const Figure read = {"disk.read", UNIT_BYTES, true};
    static const Figure written = {"disk.written", UNIT_BYTES, true};
    const char *text = read_small("/proc/diskstats");
    double sectors_in = 0, sectors_out = 0;

    for (const char *line = text; line && *line; line = strchr(line, '\n')) {
        char name[64];
        double in = 0, out = 0;
        line += *line == '\n';
        if (sscanf(line, "%*d %*d %63s %*f %*f %lf %*f %*f %*f %lf", name, &in, &out) == 3 &&
            access(str_z(str_fmt("/sys/block/%s", name)), F_OK) == 0) {
            sectors_in += in;
            sectors_out += out;
        }
    }
    table_set(table, GROUP_HOST, "", &read, sectors_in * DISK_SECTOR);
    table_set(table, GROUP_HOST, "", &written, sectors_out * DISK_SECTOR);
}

void sample_host(SampleTable *table)
{
    static const Figure user = {"cpu.user", UNIT_S, true}, system = {"cpu.system", UNIT_S, true},
                        nice = {"cpu.nice", UNIT_S, true}, idle = {"cpu.idle", UNIT_S, true},
                        iowait = {"cpu.iowait", UNIT_S, true}, steal = {"cpu.steal", UNIT_S, true},
                        used = {"memory.used", UNIT_BYTES, false},
                        load = {"load", UNIT_COUNT, false};
    double cpu[8] = {0}, tick = (double)sysconf(_SC_CLK_TCK);
    const char *text = read_small("/proc/stat");

    sscanf(text, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &cpu[0], &cpu[1], &cpu[2], &cpu[3], &cpu[4],
           &cpu[5], &cpu[6], &cpu[7]);
    table_set(table, GROUP_HOST, "", &user, cpu[0] / tick);
    table_set(table, GROUP_HOST, "", &nice, cpu[1] / tick);
    table_set(table, GROUP_HOST, "", &system, (cpu[2] + cpu[5] + cpu[6]) / tick);
    table_set(table, GROUP_HOST, "", &idle, cpu[3] / tick);
    table_set(table, GROUP_HOST, "", &iowait, cpu[4] / tick);
    table_set(table, GROUP_HOST, "", &steal, cpu[7] / tick);
    text = read_small("/proc/meminfo");
    table_set(table, GROUP_HOST, "", &used,
              (number_behind(text, "MemTotal:") - number_behind(text, "MemAvailable:")) * 1024);
    table_set(table, GROUP_HOST, "", &load, strtod(read_small("/proc/loadavg"), NULL));
    sample_disks(table);
}

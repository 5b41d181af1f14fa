// Inventory of the machine: spec/perf-lab.md 3.1, 6.
#include "environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

enum {
    BUSY_WATCH_MS = 500,
    CPU_KINDS = 8,
};

static Str first_line(const char *file)
{
    Str text = {0}, line = {0};
    Err *err = file_text(str_of(file), &text);

    return !err && str_next(&text, '\n', &line) ? str_trim(line) : S("");
}

// The value of "name : value" or NAME="value".
static Str value_of(Str text, const char *name, char separator)
{
    Str line;

    while (str_next(&text, '\n', &line)) {
        ptrdiff_t at = str_find_char(line, separator, 0);
        if (at > 0 && str_eq_z(str_trim(str_sub(line, 0, (size_t)at)), name)) {
            Str value = str_trim(str_sub(line, (size_t)at + 1, line.len));
            bool is_quoted = str_starts(value, S("\"")) && str_ends(value, S("\""));
            return is_quoted ? str_sub(value, 1, value.len - 1) : value;
        }
    }
    return S("");
}

static Str whole(const char *file)
{
    Str text = {0};
    Err *err = file_text(str_of(file), &text);

    return err ? S("") : text;
}

// Device, file system and options of the mount that holds the folder.
static void add_disk(Json *host, Str folder)
{
    struct stat info;
    Str mounts = whole("/proc/self/mountinfo"), line;

    if (stat(str_z(folder), &info)) {
        return;
    }
    Str wanted = str_fmt("%u:%u", major(info.st_dev), minor(info.st_dev));
    while (str_next(&mounts, '\n', &line)) {
        // ID PARENT MAJOR:MINOR ROOT POINT OPTIONS ... - TYPE SOURCE SUPER
        Str field[6] = {0}, rest = line;
        for (int i = 0; i < 6 && str_next(&rest, ' ', &field[i]); i++) {
        }
        ptrdiff_t dash = str_find(rest, S("- "), 0);
        if (!str_eq(field[2], wanted) || dash < 0) {
            continue;
        }
        Str tail = str_sub(rest, (size_t)dash + 2, rest.len), type = {0}, device = {0};
        str_next(&tail, ' ', &type);
        str_next(&tail, ' ', &device);
        json_set_str(host, "disk.device", device);
        json_set_str(host, "disk.fileSystem", type);
        json_set_str(host, "disk.options", field[5]);
        Str name = str_sub(device, 5, device.len);
        json_set_str_if(
            host, "disk.rotational",
            first_line(str_z(str_fmt("/sys/block/" STR_FMT "/queue/rotational", STR_ARG(name)))));
        return;
    }
}

static Json *host_json(const Lab *lab)
{
    Json *host = json_object();
    struct utsname kernel;
    Str cpu = whole("/proc/cpuinfo"), release = whole("/etc/os-release");
    double load = strtod(str_z(first_line("/proc/loadavg")), NULL);

    uname(&kernel);
    json_set_str(host, "name", str_fmt("%s", kernel.nodename));
    json_set_str_if(host, "cpuModel", value_of(cpu, "model name", ':'));
    json_set_int(host, "cores", sysconf(_SC_NPROCESSORS_ONLN));
    json_set_str_if(host, "threadsPerCore",
                    first_line("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list"));
    json_set_str_if(host, "smt", first_line("/sys/devices/system/cpu/smt/control"));
    json_set_str_if(host, "governor",
                    first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"));
    json_set_str_if(host, "clock",
                    first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource"));
    json_set_str_if(host, "numaNodes", first_line("/sys/devices/system/node/online"));
    json_set_int(host, "memoryBytes",
                 (int64_t)sysconf(_SC_PHYS_PAGES) * (int64_t)sysconf(_SC_PAGESIZE));
    json_set_str(host, "kernel", str_fmt("%s %s", kernel.sysname, kernel.release));
    json_set_str_if(host, "distribution", value_of(release, "PRETTY_NAME", '='));
    bool is_virtual = str_find(value_of(cpu, "flags", ':'), S("hypervisor"), 0) >= 0;
    Str product = first_line("/sys/class/dmi/id/product_name");
    json_set_str(host, "virtualization",
                 is_virtual ? product.len ? product : S("virtual machine") : S("none"));
    json_set_number(host, "load", load);
    add_disk(host, lab->folder);
    return host;
}

static Json *lab_json(void)
{
    Json *lab = json_object();

    json_set_str(lab, "version", S(OCTAVO_VERSION));
    json_set_str(lab, "build", program_build());
#ifdef OCTAVO_HOOKS
    json_set_str(lab, "flavour", S("debug"));
#else
    json_set_str(lab, "flavour", S("release"));
#endif
#ifdef __SANITIZE_ADDRESS__
    json_set_bool(lab, "sanitizers", true);
#endif
    return lab;
}

static Json *target_json(const Lab *lab)
{
    const Experiment *experiment = lab->experiment;
    Json *target = json_object();

    json_set_bool(target, "managed", experiment->target.url.len == 0);
    json_set_str_if(target, "url", experiment->target.url);
    json_set_str_if(target, "cpuset", experiment->target.cpuset);
    return target;
}

static Json *data_json(const Lab *lab)
{
    Json *data = json_object();

    if (lab->prepared.folder.len) {
        json_set_str(data, "recipe", lab->experiment->data.recipe);
        json_set_int(data, "seed", (int64_t)lab->experiment->data.seed);
        json_set_str(data, "checksum", lab->prepared.checksum);
    }
    return data;
}

Json *environment_take(const Lab *lab)
{
    Json *environment = json_object();

    json_set(environment, "lab", lab_json());
    json_set(environment, "host", host_json(lab));
    json_set(environment, "target", target_json(lab));
    json_set(environment, "data", data_json(lab));
    return environment;
}

static void read_cpu(double *busy, double *all)
{
    double kind[CPU_KINDS] = {0};
    const char *text = str_z(first_line("/proc/stat"));

    sscanf(text, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &kind[0], &kind[1], &kind[2], &kind[3],
           &kind[4], &kind[5], &kind[6], &kind[7]);
    *busy = kind[0] + kind[2] + kind[5] + kind[6] + kind[7];
    *all = *busy + kind[1] + kind[3] + kind[4];
}

double environment_busy(void)
{
    double busy[2], all[2];

    read_cpu(&busy[0], &all[0]);
    usleep(BUSY_WATCH_MS * 1000);
    read_cpu(&busy[1], &all[1]);
    return all[1] > all[0] ? (busy[1] - busy[0]) / (all[1] - all[0]) : 0;
}

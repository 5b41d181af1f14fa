// A fault of the disk as a text, for a program that is started to meet it.
#include "store/faults.h"

#ifdef OCTAVO_HOOKS

#include "base/str.h"

static bool operation_read(Str text, Fault *fault)
{
    static const char *const names[] = {
        [OP_CHANGE] = "change", [OP_WRITE] = "write",   [OP_TRUNCATE] = "truncate",
        [OP_SYNC] = "sync",     [OP_DELETE] = "delete", [OP_READ] = "read"};
    static const char *const files[] = {
        [FILE_ANY] = "", [FILE_DATABASE] = "database", [FILE_LOG] = "log"};
    Str file = text, name = {"", 0};
    bool is_op = false, is_file = false;

    (void)str_next(&file, '.', &name);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        is_op = is_op || str_eq_z(name, names[i]);
        fault->op = str_eq_z(name, names[i]) ? (FaultOp)i : fault->op;
    }
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        is_file = is_file || str_eq_z(file, files[i]);
        fault->file = str_eq_z(file, files[i]) ? (FaultFileKind)i : fault->file;
    }
    return is_op && is_file;
}

static bool keep_read(Str text, Keep *keep)
{
    static const char *const names[] = {
        [LOSE_ALL] = "all", [KEEP_FIRST] = "first", [KEEP_SOME] = "some"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (str_eq_z(text, names[i])) {
            *keep = (Keep)i;
            return true;
        }
    }
    return false;
}

Err *faults_arm_text(Str text)
{
    Str parts[4] = {{"", 0}, {"", 0}, {"", 0}, {"", 0}}, rest = text;
    Fault fault = {0};
    Keep keep = LOSE_ALL;
    int64_t bytes = 0;
    bool is_good = false;

    for (size_t i = 0; i < 4 && str_next(&rest, ':', &parts[i]); i++) {
    }
    fault.is_cut = str_eq(parts[0], S("cut"));
    if (str_eq(parts[0], S("full")) && str_int64(parts[1], &bytes)) {
        faults_disk_full(bytes);
        return NULL;
    }
    bool is_operation = operation_read(parts[1], &fault);
    fault.point = is_operation ? NULL : str_z(parts[1]);
    if (fault.is_cut && keep_read(parts[3], &keep)) {
        is_good = parts[1].len > 0;
        faults_exit_at_cut(keep);
    } else if (str_eq(parts[0], S("error"))) {
        is_good = is_operation && str_int64(parts[3], &fault.count);
    }
    if (!is_good || !str_int64(parts[2], &fault.nth)) {
        return err_text(400, "no fault of the disk: " STR_FMT, STR_ARG(text));
    }
    faults_arm(&fault);
    return NULL;
}

#endif

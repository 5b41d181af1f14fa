// The fault layer: beside each database file lies <file>.disk with what was synced; writes since
// the last sync wait in memory. All goes through to the real file too, so that reading needs no
// thought.
#include "store/faults.h"

#ifdef OCTAVO_HOOKS

#include "base/die.h"
#include "base/str.h"
#include "store/sqlite.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FILES_MAX = 64,
    PATH_BYTES = 512,
    SECTOR = 512,
    COPY_BYTES = 64 * 1024,
};

static const size_t PENDING_MAX = (size_t)256 * 1024 * 1024;

// A write, or a truncation (data == NULL) to `offset`.
typedef struct Pending {
    const char *data;
    size_t size;
    int64_t offset;
    struct Pending *next;
} Pending;

typedef struct {
    char path[PATH_BYTES];
    int shadow;      // <path>.disk
    bool is_on_disk; // its name survives a power cut
    bool is_deleted; // deleted, but the directory was not synced
    Arena *arena;    // of the pending writes
    Pending *first, *last;
} Disk;

typedef struct {
    sqlite3_file base;
    Disk *disk;           // NULL: a temporary file, passed through
    bool syncs_directory; // a new log or journal: its first sync makes the names safe, too
    sqlite3_file *real;
} FaultFile;

static struct {
    pthread_mutex_t lock; // guards everything below
    sqlite3_vfs vfs;
    sqlite3_vfs *real;
    Disk files[FILES_MAX];
    size_t file_count;
    uint64_t random;
    bool is_off;
    bool exits; // the process ends with the power, and keeps `keep`
    Keep keep;
    Fault armed;
    char point[64];
    int64_t operations, seen, bytes_left; // seen: what the armed fault is about, so far
} faults = {.lock = PTHREAD_MUTEX_INITIALIZER, .bytes_left = -1, .random = 1};

static pthread_once_t once = PTHREAD_ONCE_INIT;

static uint64_t random_next(uint64_t below)
{
    faults.random ^= faults.random << 13;
    faults.random ^= faults.random >> 7;
    faults.random ^= faults.random << 17;
    return faults.random % below;
}

// ---------------------------------------------------------------------------------------------
// Files as a disk holds them

static void file_copy(const char *from, const char *to)
{
    static char buffer[COPY_BYTES]; // under the lock
    int in = open(from, O_RDONLY | O_CLOEXEC);
    int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
    ssize_t n = 0;

    while (in >= 0 && out >= 0 && (n = read(in, buffer, sizeof buffer)) > 0) {
        n = write(out, buffer, (size_t)n);
    }
    if (in < 0 || out < 0 || n < 0) {
        die("cannot copy %s to %s", from, to);
    }
    close(in);
    close(out);
}

static const char *shadow_path(const char *path)
{
    return str_z(str_fmt("%s.disk", path));
}

static Disk *disk_of(const char *path)
{
    for (size_t i = 0; i < faults.file_count; i++) {
        if (strcmp(faults.files[i].path, path) == 0) {
            return &faults.files[i];
        }
    }
    if (faults.file_count == FILES_MAX || strlen(path) >= PATH_BYTES) {
        die("too many files for the fault layer, or too long a name");
    }
    Disk *disk = &faults.files[faults.file_count++];
    *disk = (Disk){.arena = arena_new(PENDING_MAX)};
    strcpy(disk->path, path);
    disk->is_on_disk = access(path, F_OK) == 0;
    if (disk->is_on_disk) {
        file_copy(path, shadow_path(path));
    }
    disk->shadow = open(shadow_path(path), O_RDWR | O_CREAT | O_CLOEXEC, 0640);
    if (disk->shadow < 0) {
        die("cannot open %s", shadow_path(path));
    }
    return disk;
}

static void pending_add(Disk *disk, const void *data, size_t size, int64_t offset)
{
    Pending *one = arena_alloc(disk->arena, sizeof *one);

    *one = (Pending){.size = size, .offset = offset};
    if (data) {
        one->data = memcpy(arena_alloc(disk->arena, size), data, size);
    }
    *(disk->last ? &disk->last->next : &disk->first) = one;
    disk->last = one;
}

static void pending_clear(Disk *disk)
{
    disk->first = disk->last = NULL;
    arena_reset(disk->arena);
}

static void shadow_write(const Disk *disk, const Pending *one, size_t size)
{
    bool is_done = one->data ? pwrite(disk->shadow, one->data, size, one->offset) == (ssize_t)size
                             : ftruncate(disk->shadow, one->offset) == 0;
    if (!is_done) {
        die("cannot write %s.disk", disk->path);
    }
}

static void disk_sync(Disk *disk)
{
    for (const Pending *one = disk->first; one; one = one->next) {
        shadow_write(disk, one, one->size);
    }
    disk->is_on_disk = true;
    disk->is_deleted = false;
    pending_clear(disk);
}

static void directory_sync(void)
{
    for (size_t i = 0; i < faults.file_count; i++) {
        Disk *disk = &faults.files[i];
        if (disk->is_deleted) {
            disk->is_deleted = disk->is_on_disk = false;
        }
    }
}

// A failed sync: the kernel marks pages clean that it could not write; later syncs skip them.
static void disk_sync_fail(Disk *disk)
{
    Pending **at = &disk->first;

    disk->last = NULL;
    while (*at) {
        if (random_next(2)) {
            *at = (*at)->next;
        } else {
            disk->last = *at;
            at = &(*at)->next;
        }
    }
}

static size_t torn_size(const Pending *one)
{
    size_t sectors = one->size / SECTOR;

    return one->data && sectors > 1 && random_next(4) == 0 ? random_next(sectors) * SECTOR
                                                           : one->size;
}

static void disk_keep(Disk *disk, Keep keep)
{
    size_t count = 0, kept = 0;

    for (const Pending *one = disk->first; one; one = one->next) {
        count++;
    }
    size_t first = count ? random_next(count + 1) : 0;
    for (const Pending *one = disk->first; one; one = one->next, kept++) {
        bool stays = keep == KEEP_FIRST ? kept < first : random_next(2);
        if (keep != LOSE_ALL && stays) {
            bool may_tear = keep == KEEP_SOME || kept + 1 == first;
            shadow_write(disk, one, may_tear ? torn_size(one) : one->size);
            disk->is_on_disk = true;
        }
    }
    pending_clear(disk);
}

// ---------------------------------------------------------------------------------------------
// Faults

typedef enum { PASS, FAIL, LAST, OFF } Fate; // LAST: on its way when the power went

static FaultFileKind kind_of(const Disk *disk)
{
    return str_ends(str_of(disk->path), S(".db")) ? FILE_DATABASE : FILE_LOG;
}

static bool is_about(const Fault *fault, FaultOp op, const Disk *disk)
{
    bool is_op = fault->op == OP_CHANGE ? op != OP_READ : op == fault->op;

    return fault->nth > 0 && !fault->point && is_op &&
           (fault->file == FILE_ANY || fault->file == kind_of(disk));
}

// Counts one operation and says what becomes of it.
static Fate operation_fate(FaultOp op, const Disk *disk)
{
    const Fault *fault = &faults.armed;

    if (faults.is_off) {
        return OFF;
    }
    faults.operations += op != OP_READ;
    if (!is_about(fault, op, disk) || ++faults.seen < fault->nth) {
        return PASS;
    }
    if (fault->is_cut) {
        faults.is_off = true;
        return LAST;
    }
    return faults.seen < fault->nth + fault->count ? FAIL : PASS;
}

static void disks_reboot(Keep keep);

static void faults_unlock(void)
{
    if (faults.is_off && faults.exits) {
        disks_reboot(faults.keep);
        _exit(FAULTS_EXIT);
    }
    pthread_mutex_unlock(&faults.lock);
}

void faults_point(const char *name)
{
    pthread_mutex_lock(&faults.lock);
    if (faults.armed.point && strcmp(faults.point, name) == 0 &&
        ++faults.seen == faults.armed.nth) {
        faults.is_off = true;
    }
    faults_unlock();
}

// ---------------------------------------------------------------------------------------------
// Functions of a file

static FaultFile *fault_file(sqlite3_file *file)
{
    return (FaultFile *)file;
}

static sqlite3_file *real_file(sqlite3_file *file)
{
    return fault_file(file)->real;
}

static int file_close(sqlite3_file *file)
{
    return real_file(file)->pMethods->xClose(real_file(file));
}

static int file_read(sqlite3_file *file, void *to, int size, sqlite3_int64 offset)
{
    const Disk *disk = fault_file(file)->disk;

    pthread_mutex_lock(&faults.lock);
    Fate fate = disk ? operation_fate(OP_READ, disk) : PASS;
    faults_unlock();
    return fate == PASS ? real_file(file)->pMethods->xRead(real_file(file), to, size, offset)
                        : SQLITE_IOERR_READ;
}

// True if the file may become so long.
static bool space_take(sqlite3_file *file, int64_t end)
{
    sqlite3_int64 size = 0;

    if (faults.bytes_left < 0) {
        return true;
    }
    real_file(file)->pMethods->xFileSize(real_file(file), &size);
    int64_t growth = end > size ? end - size : 0;
    if (growth > faults.bytes_left) {
        return false;
    }
    faults.bytes_left -= growth;
    return true;
}

static int write_locked(sqlite3_file *file, const void *from, int size, int64_t offset)
{
    Disk *disk = fault_file(file)->disk;
    Fate fate = operation_fate(OP_WRITE, disk);

    if (fate == LAST) {
        pending_add(disk, from, (size_t)size, offset);
    }
    if (fate != PASS) {
        return SQLITE_IOERR_WRITE;
    }
    if (!space_take(file, offset + size)) {
        return SQLITE_FULL;
    }
    pending_add(disk, from, (size_t)size, offset);
    return real_file(file)->pMethods->xWrite(real_file(file), from, size, offset);
}

static int file_write(sqlite3_file *file, const void *from, int size, sqlite3_int64 offset)
{
    if (!fault_file(file)->disk) {
        return real_file(file)->pMethods->xWrite(real_file(file), from, size, offset);
    }
    pthread_mutex_lock(&faults.lock);
    int code = write_locked(file, from, size, offset);
    faults_unlock();
    return code;
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    Disk *disk = fault_file(file)->disk;
    int code = SQLITE_OK;

    pthread_mutex_lock(&faults.lock);
    if (disk && operation_fate(OP_TRUNCATE, disk) != PASS) {
        code = SQLITE_IOERR_TRUNCATE;
    } else if (disk) {
        pending_add(disk, NULL, 0, size);
    }
    faults_unlock();
    return code ? code : real_file(file)->pMethods->xTruncate(real_file(file), size);
}

// The real file is not synced: the simulated disk decides, and tests run fast.
static int file_sync(sqlite3_file *file, int flags)
{
    Disk *disk = fault_file(file)->disk;

    (void)flags;
    if (!disk) {
        return SQLITE_OK;
    }
    pthread_mutex_lock(&faults.lock);
    Fate fate = operation_fate(OP_SYNC, disk);
    if (fate == PASS) {
        disk_sync(disk);
        if (fault_file(file)->syncs_directory) {
            directory_sync();
            fault_file(file)->syncs_directory = false;
        }
    } else if (fate == FAIL) {
        disk_sync_fail(disk);
    }
    faults_unlock();
    return fate == PASS ? SQLITE_OK : SQLITE_IOERR_FSYNC;
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size)
{
    return real_file(file)->pMethods->xFileSize(real_file(file), size);
}

static int file_lock(sqlite3_file *file, int level)
{
    return real_file(file)->pMethods->xLock(real_file(file), level);
}

static int file_unlock(sqlite3_file *file, int level)
{
    return real_file(file)->pMethods->xUnlock(real_file(file), level);
}

static int file_check_lock(sqlite3_file *file, int *out)
{
    return real_file(file)->pMethods->xCheckReservedLock(real_file(file), out);
}

static int file_control(sqlite3_file *file, int operation, void *argument)
{
    // Mapped memory and growth in advance would go past this layer.
    if (operation == SQLITE_FCNTL_MMAP_SIZE || operation == SQLITE_FCNTL_SIZE_HINT) {
        return SQLITE_NOTFOUND;
    }
    return real_file(file)->pMethods->xFileControl(real_file(file), operation, argument);
}

static int file_sector_size(sqlite3_file *file)
{
    return real_file(file)->pMethods->xSectorSize(real_file(file));
}

static int file_features(sqlite3_file *file)
{
    return real_file(file)->pMethods->xDeviceCharacteristics(real_file(file));
}

static int shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **out)
{
    return real_file(file)->pMethods->xShmMap(real_file(file), page, size, extend, out);
}

static int shm_lock(sqlite3_file *file, int offset, int n, int flags)
{
    return real_file(file)->pMethods->xShmLock(real_file(file), offset, n, flags);
}

static void shm_barrier(sqlite3_file *file)
{
    real_file(file)->pMethods->xShmBarrier(real_file(file));
}

static int shm_unmap(sqlite3_file *file, int deletes)
{
    return real_file(file)->pMethods->xShmUnmap(real_file(file), deletes);
}

static const sqlite3_io_methods methods = {
    .iVersion = 2, // no xFetch: pages are read, not mapped
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_unlock,
    .xCheckReservedLock = file_check_lock,
    .xFileControl = file_control,
    .xSectorSize = file_sector_size,
    .xDeviceCharacteristics = file_features,
    .xShmMap = shm_map,
    .xShmLock = shm_lock,
    .xShmBarrier = shm_barrier,
    .xShmUnmap = shm_unmap,
};

// ---------------------------------------------------------------------------------------------
// Functions of the layer

static int open_locked(const char *name, FaultFile *file, int flags, int *out)
{
    enum { KEPT = SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL };
    bool is_kept = name && (flags & KEPT);

    if (is_kept && faults.is_off) {
        return SQLITE_CANTOPEN;
    }
    bool is_new = is_kept && access(name, F_OK) != 0;
    Disk *disk = is_kept ? disk_of(name) : NULL;
    file->real = (sqlite3_file *)(file + 1);
    int code = faults.real->xOpen(faults.real, name, file->real, flags, out);
    if (code != SQLITE_OK) {
        return code;
    }
    if (disk && is_new && (disk->is_on_disk || disk->is_deleted)) {
        pending_add(disk, NULL, 0, 0); // takes the place of a deleted one
    }
    file->disk = disk;
    file->syncs_directory = is_new && !(flags & SQLITE_OPEN_MAIN_DB);
    file->base.pMethods = &methods;
    return SQLITE_OK;
}

static int layer_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out)
{
    (void)vfs;
    *fault_file(file) = (FaultFile){0};
    pthread_mutex_lock(&faults.lock);
    int code = open_locked(name, fault_file(file), flags, out);
    pthread_mutex_unlock(&faults.lock);
    return code;
}

static int layer_delete(sqlite3_vfs *vfs, const char *name, int syncs_directory)
{
    (void)vfs;
    pthread_mutex_lock(&faults.lock);
    Disk *disk = disk_of(name);
    bool passes = operation_fate(OP_DELETE, disk) == PASS;
    if (passes) {
        pending_clear(disk);
        disk->is_deleted = !syncs_directory && disk->is_on_disk;
        disk->is_on_disk = disk->is_deleted;
    }
    if (passes && syncs_directory && ftruncate(disk->shadow, 0)) {
        die("cannot empty %s.disk", name);
    }
    faults_unlock();
    return passes ? faults.real->xDelete(faults.real, name, syncs_directory) : SQLITE_IOERR_DELETE;
}

static void layer_make(void)
{
    sqlite_start();
    faults.real = sqlite3_vfs_find(NULL);
    faults.vfs = *faults.real;
    faults.vfs.pNext = NULL;
    faults.vfs.zName = "octavo-faults";
    faults.vfs.szOsFile = (int)sizeof(FaultFile) + faults.real->szOsFile;
    faults.vfs.xOpen = layer_open;
    faults.vfs.xDelete = layer_delete;
    if (sqlite3_vfs_register(&faults.vfs, 0) != SQLITE_OK) {
        die("the fault layer cannot be registered");
    }
}

const char *faults_vfs(void)
{
    pthread_once(&once, layer_make);
    return "octavo-faults";
}

// ---------------------------------------------------------------------------------------------
// What tests call

static void faults_clear(void)
{
    faults.is_off = faults.exits = false;
    faults.armed = (Fault){0};
    faults.bytes_left = -1;
}

static void disk_forget(Disk *disk)
{
    close(disk->shadow);
    unlink(shadow_path(disk->path));
    arena_free(disk->arena);
}

void faults_reset(uint64_t seed)
{
    pthread_mutex_lock(&faults.lock);
    for (size_t i = 0; i < faults.file_count; i++) {
        disk_forget(&faults.files[i]);
    }
    faults.file_count = 0;
    faults_clear();
    faults.operations = 0;
    faults.random = seed * 2 + 1;
    pthread_mutex_unlock(&faults.lock);
}

void faults_arm(const Fault *fault)
{
    pthread_mutex_lock(&faults.lock);
    faults.armed = fault ? *fault : (Fault){0};
    faults.seen = 0;
    if (faults.armed.point) {
        snprintf(faults.point, sizeof faults.point, "%s", faults.armed.point);
    }
    pthread_mutex_unlock(&faults.lock);
}

void faults_exit_at_cut(Keep keep)
{
    pthread_mutex_lock(&faults.lock);
    faults.exits = true;
    faults.keep = keep;
    pthread_mutex_unlock(&faults.lock);
}

bool faults_power_is_off(void)
{
    pthread_mutex_lock(&faults.lock);
    bool is_off = faults.is_off;
    pthread_mutex_unlock(&faults.lock);
    return is_off;
}

void faults_disk_full(int64_t bytes_left)
{
    pthread_mutex_lock(&faults.lock);
    faults.bytes_left = bytes_left;
    pthread_mutex_unlock(&faults.lock);
}

static void disk_reboot(Disk *disk, Keep keep)
{
    disk_keep(disk, keep);
    if (disk->is_deleted && keep != LOSE_ALL && random_next(2)) {
        disk->is_on_disk = false; // the deletion did reach the disk
    }
    unlink(disk->path);
    if (disk->is_on_disk) {
        file_copy(shadow_path(disk->path), disk->path);
    }
    unlink(str_z(str_fmt("%s-shm", disk->path)));
    disk_forget(disk);
}

static void disks_reboot(Keep keep)
{
    for (size_t i = 0; i < faults.file_count; i++) {
        disk_reboot(&faults.files[i], keep);
    }
    faults.file_count = 0;
}

void faults_reboot(Keep keep)
{
    pthread_mutex_lock(&faults.lock);
    disks_reboot(keep);
    faults_clear();
    pthread_mutex_unlock(&faults.lock);
}

#endif

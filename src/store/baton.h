// The right to write to a database, handed from one transaction to the next.
#pragma once

#include "base/date.h"

#include <pthread.h>
#include <stdbool.h>

enum { QUEUE_INTERACTIVE, QUEUE_BATCH, QUEUES };

typedef struct Waiter {
    pthread_cond_t granted;
    bool has_baton;
    int64_t since_ns;
    struct Waiter *next;
} Waiter;

// The right to use the writer connection. It is handed over directly, first come first served, so
// nobody starves; batches give way to interactive writers for at most BATCH_PATIENCE.
typedef struct {
    pthread_mutex_t lock; // guards everything below
    bool is_held;
    Waiter *first[QUEUES], *last[QUEUES];
} Baton;

void baton_init(Baton *baton);
void baton_take(Baton *baton, int queue);
// False: it did not come within so many milliseconds.
bool baton_take_within(Baton *baton, int queue, int ms);
void baton_pass(Baton *baton);
bool baton_is_wanted(Baton *baton, int queue);

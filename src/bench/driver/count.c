// Counting what virtual users did, and keeping the first failures of each class.
#include "loop.h"

#include "base/date.h"

#include <string.h>

Tallies *count_begin(Loop *loop)
{
    pthread_mutex_lock(&loop->lock);
    return loop->tallies;
}

void count_end(Loop *loop)
{
    pthread_mutex_unlock(&loop->lock);
}

Tallies *count_swap(Loop *loop)
{
    pthread_mutex_lock(&loop->lock);
    Tallies *ended = loop->tallies;
    loop->tallies = ended == &loop->halves[0] ? &loop->halves[1] : &loop->halves[0];
    pthread_mutex_unlock(&loop->lock);
    return ended;
}

void count_request(User *user, const Request *request, int64_t time_us, Failure failure)
{
    Loop *loop = user->loop;
    curl_off_t in = 0, out = 0, connect_us = 0, secure_us = 0;
    long connects = 0, header_bytes = 0, request_bytes = 0, status = 0;

    curl_easy_getinfo(user->easy, CURLINFO_SIZE_DOWNLOAD_T, &in);
    curl_easy_getinfo(user->easy, CURLINFO_SIZE_UPLOAD_T, &out);
    curl_easy_getinfo(user->easy, CURLINFO_HEADER_SIZE, &header_bytes);
    curl_easy_getinfo(user->easy, CURLINFO_REQUEST_SIZE, &request_bytes);
    curl_easy_getinfo(user->easy, CURLINFO_NUM_CONNECTS, &connects);
    curl_easy_getinfo(user->easy, CURLINFO_CONNECT_TIME_T, &connect_us);
    curl_easy_getinfo(user->easy, CURLINFO_APPCONNECT_TIME_T, &secure_us);
    curl_easy_getinfo(user->easy, CURLINFO_RESPONSE_CODE, &status);

    Tallies *counts = count_begin(loop);
    Tally *tallies[2] = {&counts->all_requests, NULL};
    if (request->meter != METER_NONE) {
        tallies[1] = &counts->requests[request->meter];
    }
    for (int i = 0; i < 2 && tallies[i]; i++) {
        tally_add(tallies[i], time_us, failure);
        if (failure == FAIL_STATUS) {
            tally_add_status(tallies[i], status, 1);
        }
        tallies[i]->bytes_in += (uint64_t)in + (uint64_t)header_bytes;
        tallies[i]->bytes_out += (uint64_t)out + (uint64_t)request_bytes;
    }
    if (connects > 0 && failure != FAIL_CONNECT) {
        tally_add(&counts->connects, secure_us > 0 ? secure_us : connect_us, FAIL_NONE);
    }
    count_end(loop);
}

void count_slow(Slow *slowest, size_t *len, const Slow *slow)
{
    size_t at = *len;

    while (at > 0 && slowest[at - 1].time_us < slow->time_us) {
        at--;
    }
    if (at == SLOW_MAX) {
        return;
    }
    *len += *len < SLOW_MAX;
    memmove(&slowest[at + 1], &slowest[at], (*len - at - 1) * sizeof *slowest);
    slowest[at] = *slow;
}

void count_transaction(User *user, const OpenTransaction *transaction)
{
    Loop *loop = user->loop;
    int64_t time_us = transaction->time_us + user->late_us;
    bool is_open_model = loop->run->options->rate > 0;
    Tallies *counts = count_begin(loop);
    Tally *tallies[] = {&counts->transactions[transaction->number], &counts->all_transactions};

    for (int i = 0; i < 2; i++) {
        tally_add(tallies[i], time_us, transaction->failure);
        if (transaction->failure == FAIL_STATUS) {
            tally_add_status(tallies[i], transaction->status, 1);
        }
        if (transaction->failure == FAIL_NONE && is_open_model) {
            tally_add_service(tallies[i], transaction->time_us);
        }
    }
    if (user->open_len == 0 && transaction->failure == FAIL_NONE) {
        user->trail.time_us = time_us;
        count_slow(loop->slowest, &loop->slow_len, &user->trail);
    }
    count_end(loop);
}

// What was sent, as one reads it: the request line and the body.
static Str sent_text(User *user, const Request *request)
{
    Buf buf = buf_new(arena_current(), SAMPLE_BYTES_MAX);
    Str path = text_str(request->path, &user->actor);

    buf_fmt(&buf, "%s " STR_FMT, request->method, STR_ARG(path));
    for (size_t i = 0; i < request->query_len; i++) {
        buf_fmt(&buf, "%c" STR_FMT "=" STR_FMT, i ? '&' : '?',
                STR_ARG(text_str(request->query[i].name, &user->actor)),
                STR_ARG(text_str(request->query[i].value, &user->actor)));
    }
    bool is_secret = str_find(bytes_str(user->body), S("\"password\""), 0) >= 0;
    if (is_secret) {
        buf_add_z(&buf, "\n(a body with a password)");
    } else if (user->body) {
        buf_fmt(&buf, "\n" STR_FMT, STR_ARG(bytes_str(user->body)));
    }
    return buf_str(&buf);
}

void count_failure(User *user, const Request *request, Failure failure, Str why)
{
    Run *run = user->loop->run;
    RunResult *result = run->result;
    size_t same_class = 0;
    bool is_known = false;

    pthread_mutex_lock(&run->lock);
    for (size_t i = 0; i < result->sample_len; i++) {
        FailureSample *sample = &result->samples[i];
        bool is_same = sample->failure == failure && str_eq(sample->request, request->id) &&
                       str_eq(sample->why, why);
        same_class += sample->failure == failure;
        sample->times += is_same;
        is_known = is_known || is_same;
    }
    if (!is_known && same_class < SAMPLES_PER_CLASS) {
        Str answer = str_sub(bytes_str(user->answer), 0, SAMPLE_BYTES_MAX);
        Str sent = sent_text(user, request);
        result->samples[result->sample_len++] = (FailureSample){
            .times = 1,
            .failure = failure,
            .request = request->id,
            .why = str_copy(run->arena, why),
            .sent = str_copy(run->arena, sent),
            .answer = str_copy(run->arena, answer),
            .at_s = (double)(clock_ns() - run->begin_ns) / 1e9,
        };
    }
    pthread_mutex_unlock(&run->lock);
}

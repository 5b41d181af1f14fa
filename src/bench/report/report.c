// Making a report: figures first, then sections, then its check of itself.
#include "report.h"

#include <math.h>
#include <openssl/evp.h>

Str scope_label(const Report *report, Str configuration)
{
    const Configuration *is = configuration_of(report->result, configuration);
    return is && is->label.len > 0 ? is->label : configuration;
}

Str scope_title(const Report *report, const Scope *scope)
{
    if (report->scopes.len < 2) {
        return (Str){"", 0};
    }
    return str_fmt(STR_FMT ", " STR_FMT, STR_ARG(scope->run), STR_ARG(scope->load));
}

Scope scope_with(const Scope *scope, Str configuration)
{
    return (Scope){scope->run, scope->load, configuration};
}

StrList scope_names(const Report *report, const Scope *scope, MeasureKind kind)
{
    Cells cells = cells_of(report->result, scope);
    StrList names = {0};

    for (size_t i = 0; i < cells.len; i++) {
        for (size_t j = 0; j < cells.at[i]->measures.len; j++) {
            const Measure *measure = &cells.at[i]->measures.at[j];
            if (measure->kind == kind && !str_list_has(&names, measure->name)) {
                str_list_add(&names, measure->name);
            }
        }
    }
    return names;
}

Hist *scope_times(const Report *report, const Scope *scope, MeasureKind kind, Str name)
{
    Cells cells = cells_of(report->result, scope);
    Hist *all = hist_new(RESULT_DIGITS, RESULT_LONGEST_US);

    for (size_t i = 0; i < cells.len; i++) {
        Hist *one = cell_times(cells.at[i], kind, name);
        hist_merge(all, one);
        hist_free(one);
    }
    return all;
}

Outcomes scope_outcomes(const Report *report, const Scope *scope, MeasureKind kind, Str name)
{
    Cells cells = cells_of(report->result, scope);
    Outcomes sum = {0};

    for (size_t i = 0; i < cells.len; i++) {
        Outcomes one = cell_outcomes(cells.at[i], kind, name);
        sum.ok += one.ok;
        sum.failed += one.failed;
        sum.cut += one.cut;
    }
    return sum;
}

double scope_window(const Report *report, const Scope *scope)
{
    Cells cells = cells_of(report->result, scope);
    double seconds = 0;

    for (size_t i = 0; i < cells.len; i++) {
        seconds += cells.at[i]->window_s;
    }
    return seconds;
}

double metric_value(const Report *report, const char *name, const Scope *scope)
{
    Metric metric;

    if (metric_parse(str_of(name), &metric)) {
        return NAN;
    }
    Samples samples = metric_read(report->result, &metric, scope);
    return stats_pooled(&samples);
}

Str show_slug(Str text)
{
    Buf buf = buf_new(arena_current(), text.len + 1);

    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i];
        bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        buf_char(&buf, is_plain ? c : '-');
    }
    return buf_str(&buf);
}

static Str hash_of(Str text)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int len = 0;
    Buf buf = buf_new(arena_current(), 2 * EVP_MAX_MD_SIZE + 1);

    EVP_Digest(text.at, text.len, digest, &len, EVP_sha256(), NULL);
    for (unsigned int i = 0; i < len; i++) {
        buf_fmt(&buf, "%02x", digest[i]);
    }
    return buf_str(&buf);
}

static Str reference_of(const Result *result)
{
    Str id = json_str(result->experiment, "experiment.id");
    bool has_reference = json_len(json_get(result->experiment, "experiment.reference")) > 0;

    return has_reference ? id : (Str){"", 0};
}

Report *report_make(Result *result)
{
    Report *report = NEW(Report);
    Str text = result_text(result);
    Str title = json_str(result->experiment, "experiment.title");

    metric_complete(result);
    *report = (Report){.result = result,
                       .hash = hash_of(text),
                       .reference = reference_of(result),
                       .doc = NEW(Doc),
                       .scopes = scopes_of(result, (Str){"", 0})};
    *report->doc =
        (Doc){.title = title.len > 0 ? title : json_str(result->experiment, "experiment.id"),
              .subtitle = str_fmt(STR_FMT "%s" STR_FMT ", " STR_FMT ", result " STR_FMT,
                                  STR_ARG(json_str(result->experiment, "experiment.id")),
                                  result->profile.len ? ", profile " : "", STR_ARG(result->profile),
                                  STR_ARG(show_time(result->started_at)), STR_ARG(result->id)),
              .id = report->hash};
    report_compare_all(report);
    report_kpis(report);
    report_overview(report);
    report_summary(report);
    report_recommendations(report);
    report_test_runs(report);
    report_results(report);
    report_comparison(report);
    report_resources(report);
    report_database(report);
    report_errors(report);
    report_annotations(report);
    report_infrastructure(report);
    report_methodology(report);
    report_data_files(report);
    report_check_doc(report);
    return report;
}

// A position of the plan is filled when one of its attempts is valid.
static bool is_filled(const Result *result, Str id)
{
    for (size_t i = 0; i < result->cells.len; i++) {
        if (str_eq(result->cells.at[i].id, id) && result->cells.at[i].state == CELL_DONE) {
            return true;
        }
    }
    return false;
}

int report_exit_code(const Report *report)
{
    if (report->doc->defects.len > 0 || report->result->cells.len == 0) {
        return REPORT_INVALID;
    }
    for (size_t i = 0; i < report->result->cells.len; i++) {
        if (!is_filled(report->result, report->result->cells.at[i].id)) {
            return REPORT_INVALID;
        }
    }
    for (size_t i = 0; i < report->kpi_len; i++) {
        if (report->kpis[i].state != KPI_MET && !report->kpis[i].is_warning) {
            return REPORT_KPI_MISSED;
        }
    }
    return REPORT_MET;
}

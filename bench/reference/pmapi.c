/*
 * The reference library's side of `npm run bench -- pmapi`: the same work as bench/macro/pmapi.ts, timed here.
 * Usage: pmapi NAMESPACE ARCHIVE; prints one line a job: its name, a tab, nanoseconds an operation.
 */
#include <pcp/pmapi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Of the library, but in no installed header. */
extern int __pmParseLabelSet(const char *, int, int, pmLabelSet **);

static const char *units[] = {
    "Kbyte", "Mbyte / sec", "count / min", "millisec", "byte / count", "nanosec", "Kbyte^2 / sec^2",
    "100 count x 10^3 / hour",
};
static const char *no_units[] = {"Kbyte^2 / sec^2 x 10^3", "10^6 / hour"};
#define COUNT_OF(list) (sizeof(list) / sizeof(list[0]))

static double now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return ts.tv_sec * 1e9 + ts.tv_nsec;
}

static void report(const char *name, double start, long operations)
{
    printf("%s\t%.1f\n", name, (now() - start) / operations);
}

static void die(const char *what, int status)
{
    fprintf(stderr, "%s: %s\n", what, pmErrStr(status));
    exit(1);
}

static void parse_units(const char *job, const char **texts, int count, long rounds)
{
    double start = now();
    for (long i = 0; i < rounds; i++) {
        pmUnits result;
        double multiplier;
        char *message = NULL;
        if (pmParseUnitsStr(texts[i % count], &result, &multiplier, &message) < 0)
            free(message);
    }
    report(job, start, rounds);
}

static void convert(long rounds)
{
    pmUnits from = {.dimSpace = 1, .dimTime = -1, .scaleSpace = PM_SPACE_BYTE, .scaleTime = PM_TIME_SEC};
    pmUnits to = {.dimSpace = 1, .dimTime = -1, .scaleSpace = PM_SPACE_MBYTE, .scaleTime = PM_TIME_HOUR};
    pmAtomValue in, out;
    double start = now();
    for (long i = 0; i < rounds; i++) {
        in.ull = 1000003ULL * i;
        int status = pmConvScale(PM_TYPE_U64, &in, &from, &out, &to);
        if (status < 0)
            die("pmConvScale", status);
    }
    report("convert", start, rounds);
}

static void lookup(const char *file, long rounds)
{
    int status = pmLoadNameSpace(file);
    if (status < 0)
        die(file, status);
    char names[1000][64];
    for (int i = 0; i < 1000; i++)
        sprintf(names[i], "bench.group%d.metric%d", i % 100, i * 7 % 1000);
    double start = now();
    for (long i = 0; i < rounds; i++) {
        const char *name = names[i % 1000];
        pmID id;
        if (pmLookupName(1, &name, &id) < 0)
            die(name, PM_ERR_NAME);
    }
    report("lookup", start, rounds);
    pmUnloadNameSpace();
}

static void merge(long rounds)
{
    const char *texts[] = {
        "{\"hostname\":\"app1\",\"machineid\":\"0123456789abcdef\",\"groupid\":0}",
        "{\"agent\":\"linux\",\"role\":\"frontend\"}",
        "{\"device_type\":\"block\",\"indom_name\":\"per disk\"}",
        "{\"device_name\":\"sda\",\"role\":\"database\"}",
    };
    pmLabelSet *sets[4];
    for (int i = 0; i < 4; i++) {
        int status = __pmParseLabelSet(texts[i], strlen(texts[i]), 0, &sets[i]);
        if (status < 0)
            die(texts[i], status);
    }
    char buffer[4096];
    double start = now();
    for (long i = 0; i < rounds; i++) {
        int status = pmMergeLabelSets(sets, 4, buffer, sizeof(buffer), NULL, NULL);
        if (status < 0)
            die("pmMergeLabelSets", status);
    }
    report("merge", start, rounds);
}

/* Fetches record by record; the archive has 1,000 instances of bench.a and bench.b. */
static void fetch(const char *archive, const char *job, const char *name)
{
    int status = pmNewContext(PM_CONTEXT_ARCHIVE, archive);
    if (status < 0)
        die(archive, status);
    pmID id;
    if ((status = pmLookupName(1, &name, &id)) < 0)
        die(name, status);
    long records = 0;
    double start = now();
    for (;;) {
        pmResult *result;
        if ((status = pmFetch(1, &id, &result)) < 0)
            break;
        /* A rate has no values in the first record. */
        if (records > 0 && result->vset[0]->numval != 1000)
            die(name, PM_ERR_VALUE);
        pmFreeResult(result);
        records++;
    }
    if (status != PM_ERR_EOL)
        die(name, status);
    report(job, start, records);
    pmDestroyContext(pmWhichContext());
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 1;
    parse_units("units", units, COUNT_OF(units), 200000);
    parse_units("no units", no_units, COUNT_OF(no_units), 200000);
    convert(2000000);
    merge(50000);
    char *error;
    pmRegisterDerivedMetric("derived.sum", "bench.a + bench.b * 2", &error);
    pmRegisterDerivedMetric("derived.rate", "rate(bench.a)", &error);
    fetch(argv[2], "plain fetch", "bench.a");
    fetch(argv[2], "derived sum", "derived.sum");
    fetch(argv[2], "derived rate", "derived.rate");
    lookup(argv[1], 300000);
    return 0;
}

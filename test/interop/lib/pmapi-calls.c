/*
 * Calls of the reference library, one a line of tab-separated fields, one line of answer each. `\N` is a null pointer.
 * Built by pmapi-differential.test.ts. Crashes and hangs of a call are answers as well.
 */
#define PMAPI_VERSION 3
#include <pcp/pmapi.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#define NOW 1700000000

/* The library takes its wall clock from here. */
time_t time(time_t *t) { if (t) *t = NOW; return NOW; }
int gettimeofday(struct timeval *restrict t, void *restrict z) { (void)z; t->tv_sec = NOW; t->tv_usec = 0; return 0; }
int clock_gettime(clockid_t c, struct timespec *t) { (void)c; t->tv_sec = NOW; t->tv_nsec = 0; return 0; }

static sigjmp_buf back;
static void fault(int sig) { siglongjmp(back, sig); }

static void read_atom(int type, const char *text, pmAtomValue *atom)
{
    uint64_t bits;
    switch (type) {
    case PM_TYPE_32: atom->l = (int32_t)strtol(text, NULL, 10); break;
    case PM_TYPE_U32: atom->ul = (uint32_t)strtoul(text, NULL, 10); break;
    case PM_TYPE_64: atom->ll = strtoll(text, NULL, 10); break;
    case PM_TYPE_U64: atom->ull = strtoull(text, NULL, 10); break;
    case PM_TYPE_FLOAT: bits = strtoull(text, NULL, 16); memcpy(&atom->d, &bits, 8); atom->f = (float)atom->d; break;
    case PM_TYPE_DOUBLE: bits = strtoull(text, NULL, 16); memcpy(&atom->d, &bits, 8); break;
    }
}

static void print_atom(int type, pmAtomValue *atom)
{
    uint64_t bits;
    double real;
    switch (type) {
    case PM_TYPE_32: printf("%d", atom->l); break;
    case PM_TYPE_U32: printf("%u", atom->ul); break;
    case PM_TYPE_64: printf("%lld", (long long)atom->ll); break;
    case PM_TYPE_U64: printf("%llu", (unsigned long long)atom->ull); break;
    case PM_TYPE_FLOAT: real = atom->f; memcpy(&bits, &real, 8); printf("%016llx", (unsigned long long)bits); break;
    case PM_TYPE_DOUBLE: memcpy(&bits, &atom->d, 8); printf("%016llx", (unsigned long long)bits); break;
    case PM_TYPE_STRING: printf("%s", atom->cp); break;
    }
}

/* from, to, value */
static void extract(char **f)
{
    int from = atoi(f[1]), to = atoi(f[2]), sts;
    pmAtomValue in = { 0 }, out = { 0 };
    pmValue value = { 0 };
    char block[600] = { 0 };
    pmValueBlock *vb = (pmValueBlock *)block;
    int format = PM_VAL_DPTR;
    read_atom(from, f[3], &in);
    value.value.pval = vb;
    vb->vtype = from;
    if (from == PM_TYPE_32 || from == PM_TYPE_U32) {
        format = PM_VAL_INSITU;
        value.value.lval = in.l;
    }
    else if (from == PM_TYPE_STRING) {
        strcpy(vb->vbuf, f[3]);
        vb->vlen = PM_VAL_HDR_SIZE + strlen(f[3]) + 1;
    }
    else {
        int size = from == PM_TYPE_FLOAT ? 4 : 8;
        memcpy(vb->vbuf, &in, size);
        vb->vlen = PM_VAL_HDR_SIZE + size;
    }
    sts = pmExtractValue(format, &value, from, &out, to);
    printf("%d\t", sts);
    if (sts >= 0) print_atom(to, &out);
}

static void read_units(char **f, pmUnits *u)
{
    memset(u, 0, sizeof *u);
    u->dimSpace = atoi(f[0]); u->dimTime = atoi(f[1]); u->dimCount = atoi(f[2]);
    u->scaleSpace = atoi(f[3]); u->scaleTime = atoi(f[4]); u->scaleCount = atoi(f[5]);
}

/* type, value, units, units: the result, and that of the same value as a double */
static void scale(char **f)
{
    int type = atoi(f[1]), sts;
    pmAtomValue in = { 0 }, out = { 0 };
    pmUnits from, to;
    double real;
    uint64_t bits;
    read_atom(type, f[2], &in);
    read_units(f + 3, &from);
    read_units(f + 9, &to);
    sts = pmConvScale(type, &in, &from, &out, &to);
    printf("%d\t", sts);
    if (sts < 0) return;
    print_atom(type, &out);
    real = type == PM_TYPE_32 ? in.l : type == PM_TYPE_U32 ? in.ul : type == PM_TYPE_64 ? (double)in.ll
        : type == PM_TYPE_U64 ? (double)in.ull : type == PM_TYPE_FLOAT ? in.f : in.d;
    in.d = real;
    pmConvScale(PM_TYPE_DOUBLE, &in, &from, &out, &to);
    memcpy(&bits, &out.d, 8);
    printf("\t%016llx", (unsigned long long)bits);
}

/* units */
static void units_text(char **f)
{
    pmUnits u;
    read_units(f + 1, &u);
    printf("0\t%s", pmUnitsStr(&u));
}

/* text */
static void parse_units(char **f)
{
    pmUnits u;
    double multiplier;
    char *message = NULL;
    uint64_t bits;
    int sts = pmParseUnitsStr(f[1], &u, &multiplier, &message);
    printf("%d\t", sts);
    if (sts < 0) return;
    memcpy(&bits, &multiplier, 8);
    printf("%d,%d,%d,%d,%d,%d\t%016llx", u.dimSpace, u.dimTime, u.dimCount, u.scaleSpace, u.scaleTime, u.scaleCount,
        (unsigned long long)bits);
}

static void print_message(const char *message)
{
    for (; message && *message; message++) putchar(*message == '\n' ? '|' : *message);
}

/* text */
static void interval(char **f)
{
    struct timespec t = { 0 };
    char *message = NULL;
    int sts = pmParseHighResInterval(f[1], &t, &message);
    printf("%d\t", sts);
    if (sts < 0) print_message(message);
    else printf("%ld.%09ld", (long)t.tv_sec, t.tv_nsec);
}

static char *text(char *field) { return strcmp(field, "\\N") == 0 ? NULL : field; }

static void set_zone(const char *name) { setenv("TZ", name, 1); tzset(); }

/* zone, -S, -T, -A, -O, start, its nanoseconds, end or max, its nanoseconds */
static void window(char **f)
{
    struct timespec first = { atol(f[6]), atol(f[7]) };
    struct timespec last = { strcmp(f[8], "max") == 0 ? INT64_MAX : atol(f[8]), atol(f[9]) };
    struct timespec start = { 0 }, end = { 0 }, origin = { 0 };
    char *message = NULL;
    int sts;
    set_zone(f[1]);
    sts = pmParseHighResTimeWindow(text(f[2]), text(f[3]), text(f[4]), text(f[5]), &first, &last, &start, &end, &origin,
        &message);
    printf("%d\t", sts);
    if (sts < 0) print_message(message);
    else if (end.tv_sec == INT64_MAX)
        printf("%ld.%09ld max %ld.%09ld", start.tv_sec, start.tv_nsec, origin.tv_sec, origin.tv_nsec);
    else printf("%ld.%09ld %ld.%09ld %ld.%09ld", start.tv_sec, start.tv_nsec, end.tv_sec, end.tv_nsec, origin.tv_sec,
        origin.tv_nsec);
}

/* zone, seconds */
static void zoned(char **f)
{
    time_t t = atol(f[2]);
    char buffer[64];
    set_zone(f[1]);
    pmCtime(&t, buffer);
    buffer[strcspn(buffer, "\n")] = 0;
    printf("0\t%s", buffer);
}

int main(void)
{
    static char line[8192];
    while (fgets(line, sizeof line, stdin)) {
        char *f[20] = { 0 }, *rest = line;
        volatile int fields = 0;
        int sig;
        line[strcspn(line, "\n")] = 0;
        while (rest && fields < 20) f[fields++] = strsep(&rest, "\t");
        signal(SIGFPE, fault); signal(SIGALRM, fault); signal(SIGSEGV, fault); signal(SIGABRT, fault);
        if ((sig = sigsetjmp(back, 1)) != 0) printf("%s\n", sig == SIGALRM ? "hang" : "crash");
        else {
            alarm(2);
            switch (f[0][0]) {
            case 'E': extract(f); break;
            case 'C': scale(f); break;
            case 'U': units_text(f); break;
            case 'P': parse_units(f); break;
            case 'I': interval(f); break;
            case 'W': window(f); break;
            case 'Z': zoned(f); break;
            }
            putchar('\n');
        }
        alarm(0);
    }
    return 0;
}

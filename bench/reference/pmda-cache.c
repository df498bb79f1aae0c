/* The reference's side of bench/macro/instance-cache.ts: the same calls on one cache, nanoseconds of processor time each. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <pcp/pmapi.h>
#include <pcp/pmda.h>

static double now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return ts.tv_sec * 1e9 + ts.tv_nsec;
}

int main(int argc, char **argv)
{
    int count = atoi(argv[1]), changes = atoi(argv[2]), i, inst;
    pmInDom indom = pmInDom_build(481, 1);
    char name[64];
    double start;

    pmSetProgname("pmda-cache");
    start = now();
    for (i = 0; i < count; i++) {
	snprintf(name, sizeof name, "instance-%d", i);
	pmdaCacheStore(indom, PMDA_CACHE_ADD, name, NULL);
    }
    printf("add %.1f\n", (now() - start) / count);
    start = now();
    for (i = 0; i < changes; i++) {
	snprintf(name, sizeof name, "instance-%d", (int)((i * 7919LL) % count));
	pmdaCacheStore(indom, PMDA_CACHE_HIDE, name, NULL);
	pmdaCacheStore(indom, PMDA_CACHE_ADD, name, NULL);
    }
    printf("change %.1f\n", (now() - start) / changes / 2);
    start = now();
    pmdaCacheOp(indom, PMDA_CACHE_WALK_REWIND);
    for (i = 0; (inst = pmdaCacheOp(indom, PMDA_CACHE_WALK_NEXT)) >= 0; i++)
	;
    printf("list %.1f\n", (now() - start) / i);
    start = now();
    pmdaCacheOp(indom, PMDA_CACHE_SAVE);
    printf("save %.1f\n", (now() - start) / count);
    return 0;
}

/*
 * Fetches from archives through PCP's own library, for comparison.
 *
 * Each line of input is a run: ARCHIVE MODE SEC NSEC STEP_SEC STEP_NSEC COUNT PMID...
 * For each fetch one line of output: the time, then for each metric its number of values or error and the values as
 * INST=HEX, INST=iHEX for values in situ; or E and the status that ended the run. A line with a point ends a run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <pcp/pmapi.h>

static void printBytes(const unsigned char *bytes, int length)
{
    int i;
    for (i = 0; i < length; i++) printf("%02x", bytes[i]);
}

static void printSet(const pmValueSet *set)
{
    int i;
    printf(" %u:%d", set->pmid, set->numval);
    for (i = 0; i < set->numval; i++) {
        const pmValue *value = &set->vlist[i];
        printf(",%d=", value->inst);
        if (set->valfmt == PM_VAL_INSITU) printf("i%08x", (unsigned)value->value.lval);
        else printBytes((unsigned char *)value->value.pval->vbuf, value->value.pval->vlen - PM_VAL_HDR_SIZE);
    }
}

static void run(char *line)
{
    static char current[4096] = "";
    static int context = -1;
    pmID ids[256];
    int count = 0, fetches, mode, sts, i;
    struct timespec when, step;
    char *archive = strtok(line, " \n");
    if (strcmp(archive, current) != 0) {
        if (context >= 0) pmDestroyContext(context);
        strncpy(current, archive, sizeof(current) - 1);
        context = pmNewContext(PM_CONTEXT_ARCHIVE, archive);
    }
    mode = atoi(strtok(NULL, " \n"));
    when.tv_sec = atol(strtok(NULL, " \n"));
    when.tv_nsec = atol(strtok(NULL, " \n"));
    step.tv_sec = atol(strtok(NULL, " \n"));
    step.tv_nsec = atol(strtok(NULL, " \n"));
    fetches = atoi(strtok(NULL, " \n"));
    for (char *id = strtok(NULL, " \n"); id != NULL && count < 256; id = strtok(NULL, " \n")) ids[count++] = strtoul(id, NULL, 10);
    if (context < 0) {
        printf("E %d\n.\n", context);
        return;
    }
    if ((sts = pmSetModeHighRes(mode, &when, &step)) < 0) {
        printf("E %d\n.\n", sts);
        return;
    }
    while (fetches-- > 0) {
        pmHighResResult *result;
        if ((sts = pmFetchHighRes(count, ids, &result)) < 0) {
            printf("E %d\n", sts);
            break;
        }
        printf("T %lld %ld", (long long)result->timestamp.tv_sec, (long)result->timestamp.tv_nsec);
        for (i = 0; i < result->numpmid; i++) printSet(result->vset[i]);
        printf("\n");
        pmFreeHighResResult(result);
    }
    printf(".\n");
}

int main(void)
{
    static char line[1 << 16];
    while (fgets(line, sizeof(line), stdin) != NULL) {
        run(line);
        fflush(stdout);
    }
    return 0;
}

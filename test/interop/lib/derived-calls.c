/*
 * Derived metrics as the reference library has them. derived-calls ARCHIVE FETCHES; standard input has an expression a
 * line. For each one line on standard output: what is complained about, or the descriptor and the values of each fetch.
 * Every expression has a process of its own: some of them end it.
 */
#include <pcp/pmapi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void print_text(const char *text)
{
    for (; text && *text; text++)
        if (*text == '\n') fputs("\\n", stdout);
        else putchar(*text);
}

static void print_value(int type, const pmAtomValue *atom)
{
    switch (type) {
    case PM_TYPE_32: printf("%d", atom->l); break;
    case PM_TYPE_U32: printf("%u", atom->ul); break;
    case PM_TYPE_64: printf("%lld", (long long)atom->ll); break;
    case PM_TYPE_U64: printf("%llu", (unsigned long long)atom->ull); break;
    case PM_TYPE_FLOAT: printf("%.9g", atom->f); break;
    case PM_TYPE_DOUBLE: printf("%.17g", atom->d); break;
    case PM_TYPE_STRING: print_text(atom->cp); break;
    default: printf("?");
    }
}

static void print_set(const pmValueSet *set, int type)
{
    pmAtomValue atom;

    if (set->numval < 0) {
        printf("\t%d", set->numval);
        return;
    }
    putchar('\t');
    for (int i = 0; i < set->numval; i++) {
        printf("%s%d=", i ? " " : "", set->vlist[i].inst);
        if (pmExtractValue(set->valfmt, &set->vlist[i], type, &atom, type) < 0) printf("?");
        else print_value(type, &atom);
    }
}

static void answer(const char *archive, const char *text, int fetches)
{
    char *message = NULL, *names[] = {"d.x", "g.s32.i"};
    pmID ids[2];
    pmDesc desc;
    pmResult *result;

    if (pmNewContext(PM_CONTEXT_ARCHIVE, archive) < 0) exit(1);
    if (pmAddDerivedMetric("d.x", text, &message) < 0) {
        printf("error\t");
        print_text(message);
        return;
    }
    if (pmLookupName(2, (const char **)names, ids) < 0 || pmLookupDesc(ids[0], &desc) < 0) {
        printf("lost");
        return;
    }
    printf("%d %s %d %s", desc.type, pmInDomStr(desc.indom), desc.sem, pmUnitsStr(&desc.units));
    for (int i = 0; i < fetches && pmFetch(2, ids, &result) >= 0; i++) {
        print_set(result->vset[0], desc.type);
        pmFreeResult(result);
    }
}

int main(int argc, char **argv)
{
    static char line[65536];

    if (argc != 3) return 1;
    while (fgets(line, sizeof line, stdin)) {
        int status;

        line[strcspn(line, "\n")] = '\0';
        fflush(stdout);
        if (fork() == 0) {
            if (freopen("/dev/null", "a", stderr) == NULL) _exit(1);
            alarm(5);
            answer(argv[1], line, atoi(argv[2]));
            fflush(stdout);
            _exit(0);
        }
        wait(&status);
        if (!WIFEXITED(status)) printf("crash");
        putchar('\n');
    }
    return 0;
}

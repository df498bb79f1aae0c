/* An agent of the oldest interface that PCP's library knows (2: no contexts, no attributes, no labels, no names),
 * which can be reached in every way. matrix.test.ts compiles and runs it. */
#include <pcp/pmapi.h>
#include <pcp/pmda.h>

static pmdaInstid sides[] = {{0, "left"}, {1, "right"}};
static pmdaIndom indoms[] = {{0, 2, sides}};
static pmdaMetric metrics[] = {
    {NULL, {PMDA_PMID(0, 0), PM_TYPE_U32, PM_INDOM_NULL, PM_SEM_INSTANT, PMDA_PMUNITS(0, 0, 0, 0, 0, 0)}},
    {NULL, {PMDA_PMID(0, 1), PM_TYPE_32, 0, PM_SEM_INSTANT, PMDA_PMUNITS(0, 0, 0, 0, 0, 0)}},
};

static pmLongOptions longopts[] = {
    PMDAOPT_DOMAIN, PMDAOPT_LOGFILE, PMDAOPT_INET, PMDAOPT_IPV6, PMDAOPT_UNIX, PMDAOPT_PIPE, PMDA_OPTIONS_END};
static pmdaOptions opts = {.short_options = "d:l:i:6:u:p", .long_options = longopts};

static int value_of(pmdaMetric *metric, unsigned int inst, pmAtomValue *atom)
{
    if (pmID_item(metric->m_desc.pmid) == 0)
        atom->ul = 42;
    else
        atom->l = inst == 0 ? -1 : 1;
    return 0; /* this interface takes it for a value */
}

int main(int argc, char **argv)
{
    pmdaInterface agent;

    pmSetProgname(argv[0]);
    pmdaDaemon(&agent, PMDA_INTERFACE_2, "pmdaold", 240, "old.log", NULL);
    pmdaGetOptions(argc, argv, &opts, &agent);
    if (opts.errors)
        return 1;
    pmdaOpenLog(&agent);
    pmdaSetFetchCallBack(&agent, value_of);
    pmdaInit(&agent, indoms, 1, metrics, 2);
    pmdaConnect(&agent);
    pmdaMain(&agent);
    return 0;
}

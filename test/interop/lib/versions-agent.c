/* An agent of any interface version, 2 to 7, by its first argument: test/interop/agent-versions.test.ts */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <pcp/pmapi.h>
#include <pcp/pmda.h>

static int version;
static unsigned int stored = 42;
static char last_user[64] = "nobody in particular";

static pmdaInstid colors[] = { { 0, "red" }, { 1, "green two" }, { 7, "blue" } };
static pmdaIndom indoms[] = { { 0, 3, colors } };
static pmdaMetric metrics[] = {
    { NULL, { PMDA_PMID(0, 0), PM_TYPE_U32, PM_INDOM_NULL, PM_SEM_INSTANT, PMDA_PMUNITS(0, 0, 0, 0, 0, 0) } },
    { NULL, { PMDA_PMID(0, 1), PM_TYPE_64, 0, PM_SEM_COUNTER, PMDA_PMUNITS(1, -1, 0, PM_SPACE_KBYTE, PM_TIME_SEC, 0) } },
    { NULL, { PMDA_PMID(0, 2), PM_TYPE_STRING, PM_INDOM_NULL, PM_SEM_DISCRETE, PMDA_PMUNITS(0, 0, 0, 0, 0, 0) } },
    { NULL, { PMDA_PMID(0, 3), PM_TYPE_DOUBLE, 0, PM_SEM_INSTANT, PMDA_PMUNITS(0, 0, 1, 0, 0, PM_COUNT_ONE) } },
    { NULL, { PMDA_PMID(0, 4), PM_TYPE_32, PM_INDOM_NULL, PM_SEM_INSTANT, PMDA_PMUNITS(0, 0, 0, 0, 0, 0) } },
    { NULL, { PMDA_PMID(0, 5), PM_TYPE_STRING, PM_INDOM_NULL, PM_SEM_DISCRETE, PMDA_PMUNITS(0, 0, 0, 0, 0, 0) } },
    { NULL, { PMDA_PMID(0, 6), PM_TYPE_NOSUPPORT, PM_INDOM_NULL, PM_SEM_DISCRETE, PMDA_PMUNITS(0, 0, 0, 0, 0, 0) } },
    { NULL, { PMDA_PMID(1, 0), PM_TYPE_U32, PM_INDOM_NULL, PM_SEM_INSTANT, PMDA_PMUNITS(0, 0, 0, 0, 0, 0) } },
    { NULL, { PMDA_PMID(1, 1), PM_TYPE_U32, PM_INDOM_NULL, PM_SEM_INSTANT, PMDA_PMUNITS(0, 0, 0, 0, 0, 0) } },
};
static const char *dynamic_names[] = { "vers.dyn.a", "vers.dyn.deep.b" };

static int value(pmdaMetric *metric, unsigned int inst, pmAtomValue *atom)
{
    switch (pmID_cluster(metric->m_desc.pmid) * 10 + pmID_item(metric->m_desc.pmid)) {
    case 0:
	atom->ul = stored;
	return 1;
    case 1:
	atom->ll = 1000000000000LL * (inst + 1);
	return 1;
    case 2:
	if (version >= 5) {
	    atom->cp = strdup("made for this fetch");
	    return 2;
	}
	atom->cp = "always the same";
	return 1;
    case 3: /* no value for one instance, an error for another; version 2 knows no 'no value' */
	atom->d = inst / 2.0;
	if (inst == 1)
	    return version == 2 ? PM_ERR_VALUE : 0;
	return inst == 0 ? PM_ERR_APPVERSION : 1;
    case 4:
	return PM_ERR_AGAIN;
    case 5:
	atom->cp = last_user;
	return 1;
    case 10:
    case 11:
	atom->ul = 100 + pmID_item(metric->m_desc.pmid);
	return 1;
    }
    return PM_ERR_PMID;
}

static int text(int ident, int type, char **buffer, pmdaExt *ext)
{
    static char line[128];
    (void)ext;
    pmsprintf(line, sizeof line, "%s %s of %s", version > 4 ? "new" : "old", (type & PM_TEXT_ONELINE) ? "line" : "text",
	      (type & PM_TEXT_PMID) ? pmIDStr((pmID)ident) : pmInDomStr((pmInDom)ident));
    *buffer = line;
    return 0;
}

static int store(pmResult *result, pmdaExt *ext)
{
    int i;
    (void)ext;
    for (i = 0; i < result->numpmid; i++) {
	pmValueSet *vsp = result->vset[i];
	if (pmID_cluster(vsp->pmid) != 0 || pmID_item(vsp->pmid) != 0)
	    return PM_ERR_PERMISSION;
	stored = vsp->vlist[0].value.lval;
    }
    return 0;
}

static int dyn_pmid(const char *name, pmID *pmid, pmdaExt *ext)
{
    int i;
    for (i = 0; i < 2; i++)
	if (strcmp(name, dynamic_names[i]) == 0) {
	    *pmid = pmID_build(ext->e_domain, 1, i);
	    return 0;
	}
    return PM_ERR_NAME;
}

static char **list(const char **names, int count)
{
    size_t size = count * sizeof(char *);
    char **all, *next;
    int i;
    for (i = 0; i < count; i++)
	size += strlen(names[i]) + 1;
    all = malloc(size);
    next = (char *)&all[count];
    for (i = 0; i < count; i++) {
	all[i] = strcpy(next, names[i]);
	next += strlen(next) + 1;
    }
    return all;
}

static int dyn_name(pmID pmid, char ***names, pmdaExt *ext)
{
    (void)ext;
    if (pmID_cluster(pmid) != 1 || pmID_item(pmid) > 1)
	return PM_ERR_PMID;
    *names = list(&dynamic_names[pmID_item(pmid)], 1);
    return 1;
}

static int dyn_children(const char *name, int traverse, char ***names, int **status, pmdaExt *ext)
{
    static const char *top[] = { "a", "deep" }, *deep[] = { "b" };
    int count, i;
    (void)ext;
    if (strcmp(name, "vers.dyn") == 0) {
	count = 2;
	*names = traverse ? list(dynamic_names, 2) : list(top, 2);
    }
    else if (strcmp(name, "vers.dyn.deep") == 0) {
	count = 1;
	*names = traverse ? list(&dynamic_names[1], 1) : list(deep, 1);
    }
    else
	return PM_ERR_NAME;
    *status = malloc(count * sizeof(int));
    for (i = 0; i < count; i++)
	(*status)[i] = !traverse && strcmp((*names)[i], "deep") == 0 ? PMNS_NONLEAF_STATUS : PMNS_LEAF_STATUS;
    return count;
}

static int attribute(int context, int key, const char *text, int length, pmdaExt *ext)
{
    (void)context;
    (void)length;
    (void)ext;
    if (key == PMDA_ATTR_USERID)
	pmsprintf(last_user, sizeof last_user, "user %s", text);
    return 0;
}

static int label(int ident, int type, pmLabelSet **sets, pmdaExt *ext)
{
    if (type == PM_LABEL_ITEM)
	pmdaAddLabels(sets, "{\"item\":%d}", pmID_item(ident));
    else if (type == PM_LABEL_CLUSTER)
	pmdaAddLabels(sets, "{\"cluster\":%d}", pmID_cluster(ident));
    else if (type == PM_LABEL_INDOM)
	pmdaAddNotes(sets, "{\"serial\":%d}", pmInDom_serial(ident));
    return pmdaLabel(ident, type, sets, ext);
}

static int inst_label(pmInDom indom, unsigned int inst, pmLabelSet **set)
{
    (void)indom;
    return inst == 7 ? 0 : pmdaAddLabels(set, "{\"inst\":%u}", inst);
}

int main(int argc, char **argv)
{
    pmdaInterface dispatch;

    (void)argc;
    version = atoi(argv[1]);
    pmSetProgname("versions-agent");
    pmdaDaemon(&dispatch, version, "versions-agent", 470, "/dev/null", NULL);
    dispatch.version.two.text = text;
    dispatch.version.two.store = store;
    if (version >= 4) {
	dispatch.version.four.pmid = dyn_pmid;
	dispatch.version.four.name = dyn_name;
	dispatch.version.four.children = dyn_children;
    }
    if (version >= 6) {
	dispatch.version.six.attribute = attribute;
	pmdaSetCommFlags(&dispatch, PMDA_FLAG_AUTHORIZE);
    }
    if (version >= 7) {
	dispatch.version.seven.label = label;
	pmdaSetLabelCallBack(&dispatch, inst_label);
    }
    pmdaSetFetchCallBack(&dispatch, value);
    pmdaInit(&dispatch, indoms, 1, metrics, sizeof metrics / sizeof metrics[0]);
    pmdaConnect(&dispatch);
    if (dispatch.status != 0)
	exit(1);
    pmdaMain(&dispatch);
    exit(0);
}

/* Runs commands from standard input on one cache of libpcp_pmda and prints what each gives: test/interop/pmda-cache.test.ts */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <pcp/pmapi.h>
#include <pcp/pmda.h>

static int unhex(const char *text, unsigned char *key)
{
    int n = 0;
    unsigned int byte;
    while (sscanf(text + 2 * n, "%2x", &byte) == 1)
	key[n++] = byte;
    return n;
}

int main(void)
{
    char line[4096], *name, *text;
    unsigned char key[512];
    pmInDom indom = pmInDom_build(481, 7);
    int sts, inst, n;
    void *data;

    pmSetProgname("pmda-cache");
    while (fgets(line, sizeof line, stdin) != NULL) {
	line[strcspn(line, "\n")] = '\0';
	text = line[1] == ' ' ? line + 2 : line + 1;
	name = NULL;
	inst = -1;
	data = NULL;
	switch (line[0]) {
	case 'a': /* store: add */
	    printf("%d\n", pmdaCacheStore(indom, PMDA_CACHE_ADD, text, (void *)1));
	    break;
	case 'h':
	    printf("%d\n", pmdaCacheStore(indom, PMDA_CACHE_HIDE, text, NULL));
	    break;
	case 'c':
	    printf("%d\n", pmdaCacheStore(indom, PMDA_CACHE_CULL, text, NULL));
	    break;
	case 'k': /* key name */
	    name = strchr(text, ' ');
	    *name++ = '\0';
	    n = unhex(text, key);
	    printf("%d\n", pmdaCacheStoreKey(indom, PMDA_CACHE_ADD, name, n, n ? key : NULL, (void *)1));
	    break;
	case 'l': /* look up by id */
	    sts = pmdaCacheLookup(indom, atoi(text), &name, &data);
	    printf("%d %s\n", sts, sts < 0 ? "" : name);
	    break;
	case 'n':
	    sts = pmdaCacheLookupName(indom, text, &inst, &data);
	    printf("%d %d\n", sts, sts < 0 ? -1 : inst);
	    break;
	case 'K': /* look up by key */
	    name = strchr(text, ' ');
	    *name++ = '\0';
	    n = unhex(text, key);
	    {
		char *oname = NULL;
		sts = pmdaCacheLookupKey(indom, name, n, n ? key : NULL, &oname, &inst, &data);
		printf("%d %d %s\n", sts, sts < 0 ? -1 : inst, sts < 0 ? "" : oname);
	    }
	    break;
	case 'o': /* any operation by number */
	    printf("%d\n", pmdaCacheOp(indom, atoi(text)));
	    break;
	case 'w': /* walk */
	    pmdaCacheOp(indom, PMDA_CACHE_WALK_REWIND);
	    while ((inst = pmdaCacheOp(indom, PMDA_CACHE_WALK_NEXT)) >= 0)
		printf("%d ", inst);
	    printf("end\n");
	    break;
	case 'p':
	    printf("%d\n", pmdaCachePurge(indom, atoi(text)));
	    break;
	case 'm':
	    printf("%d\n", pmdaCacheResize(indom, atoi(text)));
	    break;
	}
	fflush(stdout);
    }
    return 0;
}

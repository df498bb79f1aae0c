/** Lines that once differed from the reference's, each as short as its cause allows. */
export const ONCE_DIFFERENT: readonly string[] = [
  // A metric that is missing among others.
  'pmclient -a kenj-pc-1',
  // A sum keeps units, and averages cancel it.
  'pmlogsummary -s -m viewqa1',
  'pmlogsummary -s -x ok-mv-interp',
  'pmlogsummary -s -a log-derived',
  'pmlogsummary -s -b pcp-uptime',
]

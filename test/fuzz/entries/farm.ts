/** Files that define which loggers run: farms, policies and control files. */
import { parseFarm } from '../../../src/pmlogger/farm-file.ts'
import { identOf, parsePolicy } from '../../../src/tools/lib/farm/policy.ts'
import { attemptAll, type FuzzEntry, textEntry } from '../engine/entry.ts'

/** Entry of src/pmlogger/farm-file.ts and src/tools/lib/farm. */
export const farm: FuzzEntry = textEntry({
  seeds: () => [
    '# farm\nhost1 /a/b conf interval=5s version=3 label=x size=10mb volsize=5 records\nhost2 c d\n',
    '[class]\nx\n[ident]\n%h-%c\n[control]\n#DO NOT REMOVE\n$version=1.1\n%h n n PCP_ARCHIVE_DIR/%i -c %c\n[create]\nhostname(%h)\ncondition(pmprobe)\n[destroy]\n',
  ],
  run(text) {
    attemptAll(farm, [() => parseFarm(text, 'farm'), () => identOf(parsePolicy(text, 'policy'), 'host', {})])
  },
})

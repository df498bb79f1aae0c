/** Files in which agents keep the numbers of instances. */
import { formatCache, parseCache } from '../../../src/pmda/cache/file.ts'
import { type FuzzEntry, holdSame, textEntry } from '../engine/entry.ts'

/** Entry of src/pmda/cache/file.ts. */
export const instanceCache: FuzzEntry = textEntry({
  seeds: () => ['2 1 2147483647\n0 1000 sda\n1 1001 [736462] sdb\n', '1 0\n7 1 name with blanks\n'],
  run(text) {
    const saved = parseCache(text, 'cache')
    holdSame(
      parseCache(formatCache(saved, 5), 'cache'),
      { ...saved, instances: saved.instances.map((one) => ({ ...one, stamp: one.stamp || 5 })) },
      'a cache survives formatting',
    )
  },
})

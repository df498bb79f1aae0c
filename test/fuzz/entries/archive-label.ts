/** Labels of archive files. */
import { decodeLabel, encodeLabel } from '../../../src/archive/label.ts'
import { sampleArchive } from '../../archive/sample-archive.ts'
import { type FuzzEntry, hold } from '../engine/entry.ts'

/** Entry of src/archive/label.ts. */
export const archiveLabel: FuzzEntry = {
  seeds: () => [sampleArchive(2)['a.meta']!.slice(0, 132), sampleArchive(3)['a.meta']!.slice(0, 808)],
  run(input) {
    const encoded = encodeLabel(decodeLabel(input, 'a.meta'))
    const again = encodeLabel(decodeLabel(encoded, 'a.meta'))
    hold(Buffer.compare(encoded, again) === 0, 'an encoded label decodes to the same')
  },
}

/** Pushed archives: labels, records, index entries, tokens, sizes. */
import { decodeText } from '../../../src/base/text.ts'
import { parseTokens } from '../../../src/pmproxy/logger/tokens.ts'
import { parseSizes } from '../../../src/pmproxy/routes/logger.ts'
import { parseFields } from '../../../src/push/client.ts'
import { checkLabel, labelOfPart, pushedName } from '../../../src/push/label-check.ts'
import { coveredEntries, soundEntries, soundRecords, wholeRecords } from '../../../src/push/whole-records.ts'
import { sampleArchive } from '../../archive/sample-archive.ts'
import { attemptAll, type FuzzEntry, hold } from '../engine/entry.ts'

const EXTENT = { metaBytes: 1000, volume: 1, volumeBytes: 1000 }

/** Entry of src/push and of the routes that use it. */
export const push: FuzzEntry = {
  seeds: () => [
    sampleArchive(2)['a.meta']!.slice(0, 132),
    sampleArchive(3)['a.meta']!.slice(0, 808),
    sampleArchive(3)['a.meta']!.slice(808),
    sampleArchive(3)['a.index']!.slice(808),
    new TextEncoder().encode('{"meta":1,"0":2}'),
    new TextEncoder().encode('0123456789abcdef host *.example.com # x\n'),
  ],
  run(input) {
    const text = decodeText(input)
    attemptAll(push, [
      () => {
        const label = checkLabel(input)
        hold(/^[\w-][\w.-]*$/.test(label.hostname), 'a host name is one component of a path')
        hold(/^[\w.-]+$/.test(pushedName(label)), 'a name is one component of a path')
        hold(checkLabel(labelOfPart(input, 3)).volume === 3, 'a label of a volume has its number')
      },
      () => {
        const whole = wholeRecords(input)
        hold(soundRecords(input, 0, false) >= whole, 'complete records are sound')
        hold(soundRecords(input, 0, true) <= input.length, 'sound records end in the input')
      },
      () => void coveredEntries(input, 3, EXTENT),
      () => void soundEntries(input, 2),
      () => void parseTokens(text, 'tokens'),
      () => void parseSizes(text),
      () => void parseFields(text),
    ])
  },
}

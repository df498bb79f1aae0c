/** A small archive with two volumes, instances, marks, labels and texts. */
import { archive, desc, entry, indom, labels, mark, result, text } from './build.ts'

const DISK = 5 << 22

/** Makes the files of an archive `a` with one record per second. */
export function sampleArchive(version: 2 | 3, length = 60): Record<string, Uint8Array> {
  const records = Array.from({ length }, (_, i) =>
    i % 13 === 12
      ? mark(version, i)
      : result(
          version,
          i,
          {
            pmid: 1,
            values: [
              [0, i],
              [1, 2 * i],
            ],
          },
          { pmid: 2, type: 3, values: [[-1, BigInt(i) ** 9n]] },
          { pmid: 3, type: 6, values: [[-1, 'x'.repeat(i)]] },
          { pmid: 4, values: i % 2 === 0 ? [] : -12345 },
        ),
  )
  const cut = Math.ceil((2 * length) / 3)
  const meta = [
    desc({ pmid: 1, indom: DISK }, 'disk.read'),
    indom(version, 0, DISK, [
      [0, 'sda'],
      [1, 'sdb'],
    ]),
    desc({ pmid: 2, type: 3 }, 'big'),
    desc({ pmid: 3, type: 6 }, 'name'),
    desc({ pmid: 4 }, 'nothing', 'alias'),
    labels(version, 0, 1, -1, [[-1, { hostname: 'here' }]]),
    text(5, 1, 'Reads'),
  ]
  const index = [entry(version, 0, 0, 0, version === 2 ? 132 : 808)]
  return archive('a', { version, meta, volumes: [records.slice(0, cut), records.slice(cut)], index })
}

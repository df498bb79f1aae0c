/** An archive of disks that come and go, of which facts were recorded once. */
import { indom, pmid } from '../../src/model/ids.ts'
import { LABEL_CONTEXT } from '../../src/model/labels.ts'
import { PM_SEM_DISCRETE, PM_SEM_INSTANT } from '../../src/model/types.ts'
import { archive, desc, indom as instances, labels, result, type Version } from './build.ts'

export const DISKS_START = 1_700_000_000
export const DISKS: number = indom(60, 5)
const [SIZE, MODEL, BUSY, LOAD, SPEED] = [
  pmid(60, 0, 1),
  pmid(60, 0, 2),
  pmid(60, 0, 3),
  pmid(60, 0, 4),
  pmid(60, 0, 5),
]

/**
 * Facts of disks that come and go, each recorded once: at 0 s of `sda` and `sdb`, at 100 s of `sda` and `sdc`, at 200 s of `sda` and `sdd`,
 * which has the number of `sdb`; other metrics at `fromSec`, or 5 s later.
 */
export function changingDisks(
  version: Version,
  fromSec: number,
  isAtStart: boolean,
): Record<string, Uint8Array> {
  const when = (second: number): number => DISKS_START + second
  const facts = (second: number, pmid: number, values: readonly (readonly [number, number])[]) =>
    result(version, when(second), { pmid, values })
  const meta = [
    desc({ pmid: SIZE, sem: PM_SEM_DISCRETE, indom: DISKS }, 'disk.size'),
    desc({ pmid: MODEL, sem: PM_SEM_DISCRETE, indom: DISKS }, 'disk.model'),
    desc({ pmid: SPEED, sem: PM_SEM_DISCRETE, indom: DISKS }, 'disk.speed'),
    desc({ pmid: BUSY, sem: PM_SEM_INSTANT, indom: DISKS }, 'disk.busy'),
    desc({ pmid: LOAD, sem: PM_SEM_INSTANT }, 'load'),
    instances(version, when(0), DISKS, [
      [0, 'sda'],
      [1, 'sdb'],
    ]),
    instances(version, when(100), DISKS, [
      [0, 'sda'],
      [2, 'sdc'],
    ]),
    ...(fromSec > 200
      ? [
          instances(version, when(200), DISKS, [
            [0, 'sda'],
            [1, 'sdd'],
          ]),
        ]
      : []),
    labels(version, when(0), LABEL_CONTEXT, 0xffffffff, [[-1, { site: 'old' }]]),
    labels(version, when(150), LABEL_CONTEXT, 0xffffffff, [[-1, { site: 'new' }]]),
  ]
  const first = fromSec + (isAtStart ? 0 : 5)
  const records = [
    facts(0, SIZE, [
      [0, 10],
      [1, 11],
    ]),
    facts(100, MODEL, [
      [0, 20],
      [2, 22],
    ]),
    ...(fromSec > 200
      ? [
          facts(200, SPEED, [
            [0, 30],
            [1, 31],
          ]),
        ]
      : []),
    ...[first, first + 10, first + 20].flatMap((second) => [
      facts(second, LOAD, [[-1, second]]),
      facts(
        second + 1,
        BUSY,
        fromSec > 200
          ? [
              [0, second],
              [1, second],
            ]
          : [
              [0, second],
              [2, second],
            ],
      ),
    ]),
  ]
  return archive('a', { version, start: DISKS_START, meta, volumes: [records] })
}

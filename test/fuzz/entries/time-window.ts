/** Time arguments of tools: -S, -T, -A and -O, one per line. */
import { parseTimeWindow } from '../../../src/time/window.ts'
import { makeZone, UTC } from '../../../src/time/zone.ts'
import { type FuzzEntry, hold, textEntry } from '../engine/entry.ts'

const zones = [UTC, makeZone('AEST-10AEDT,M10.1.0,M4.1.0/3')]

/** Entry of src/time. */
export const timeWindow: FuzzEntry = textEntry({
  seeds: () => [
    '@ 10:00\n+2h\n1hour\n-5min\n',
    '@Mon Mar  4 13:07:47 2017\n@2017-03-04 13:07:47.5 UTC\n\n10min30.5sec\n',
    'yesterday\ntomorrow noon\n1 day\nnow\n',
    'last friday\nnext month\n15min\n3 fortnights ago\n',
    '-2 hours\n@ 8pm\n1d 2h\n1st january 1999 5:30 am pst\n',
  ],
  mayThrow: (error) => error instanceof SyntaxError,
  maxLength: 512,
  run(text) {
    const [start, finish, align, origin] = text.split('\n').map((line) => (line === '' ? undefined : line))
    for (const zone of zones) {
      const context = {
        start: { sec: 1e9, nsec: 5 },
        end: { sec: 1e9 + 5e5, nsec: 7 },
        now: 1_000_100_000,
        zone,
      }
      const window = parseTimeWindow({ start, finish, align, origin }, context)
      for (const time of [window.start, window.finish, window.origin])
        hold(Number.isInteger(time.sec) && time.nsec >= 0 && time.nsec < 1e9, 'times of a window are times')
    }
  },
})

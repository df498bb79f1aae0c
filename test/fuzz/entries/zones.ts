/** Time zones: names with rules, and compiled files. */
import { existsSync, readFileSync } from 'node:fs'
import { localTime, makeZone } from '../../../src/time/zone.ts'
import { type FuzzEntry, hold } from '../engine/entry.ts'

const FILE = '/usr/share/zoneinfo/Europe/Berlin'
const MOMENTS = [-3e9, 0, 1e9, 1.7e9, 5e9]
const NAMES = ['AEST-10AEDT,M10.1.0,M4.1.0/3', '<+03>-3', 'EST5EDT,J60/2,300', 'UTC']

/** Entry of src/time/zone.ts. */
export const zones: FuzzEntry = {
  seeds: () => [
    ...NAMES.map((name) => new TextEncoder().encode(name)),
    ...(existsSync(FILE) ? [new Uint8Array(readFileSync(FILE))] : []),
  ],
  run(input) {
    for (const zone of [makeZone(Buffer.from(input).toString('latin1')), makeZone('x', input)])
      for (const sec of MOMENTS)
        hold(
          Object.values(localTime(sec, zone)).every(
            (value) => typeof value !== 'number' || Number.isFinite(value),
          ),
          'local times are numbers',
        )
  },
}

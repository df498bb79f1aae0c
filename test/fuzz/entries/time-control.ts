/** Messages of programs that follow the time of the page. */
import {
  encodeTimeMessage,
  TIME_ARCHIVE,
  TIME_HOST,
  TIME_SET,
  TIME_STEP,
  TimeMessages,
} from '../../../src/wire/time-control.ts'
import { type FuzzEntry, holdSame } from '../engine/entry.ts'

const time = (sec: number) => ({ sec, nsec: 0 })

/** Entry of src/wire/time-control.ts. */
export const timeControl: FuzzEntry = {
  seeds: () => {
    const rest = { state: 1, mode: 1, delta: time(1), position: time(5), start: time(2), end: time(9) }
    const zone = { name: 'UTC', label: 'here' }
    return [
      encodeTimeMessage({ command: TIME_STEP, source: TIME_HOST, ...rest }),
      encodeTimeMessage({ command: TIME_SET, source: TIME_ARCHIVE, ...rest, zone }),
    ]
  },
  run(input) {
    const whole = new TimeMessages().add(input)
    const pieces = new TimeMessages()
    const found = Array.from({ length: Math.ceil(input.length / 7) }, (_, i) =>
      pieces.add(input.subarray(7 * i, 7 * i + 7)),
    )
    holdSame(found.flat(), whole, 'pieces make no difference to messages')
  },
}

/** How commands print values: times of day in the user's zone, white space as PCP_SQUASH_NEWLINES says, no newlines on a terminal. */
import { oneLine } from '../../base/printable.ts'
import type { PrintOptions } from '../../model/print.ts'
import { clockStamp, clockStampNanos } from '../../time/stamp.ts'
import type { Zone } from '../../time/zone.ts'
import type { Output, ToolIo } from './tool.ts'

/** The form that text of others has within a line of this output: on a terminal it cannot begin a line of its own. */
export function lineForm({ isTerminal }: Pick<Output, 'isTerminal'>): (text: string) => string {
  return isTerminal ? oneLine : (text) => text
}

/** Options for `printValue`. */
export function printOptions(zone: Zone, { env, stdout }: Pick<ToolIo, 'env' | 'stdout'>): PrintOptions {
  return {
    clock: (time, isHighRes) => (isHighRes ? clockStampNanos(time, zone) : clockStamp(time, zone)),
    isOneLine: stdout.isTerminal,
    squashSpace: env['PCP_SQUASH_NEWLINES'] !== undefined,
  }
}

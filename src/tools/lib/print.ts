/** Options for printing values: zone, white space as in PCP_SQUASH_NEWLINES, one line on a terminal. */
import { oneLine } from '../../base/printable.ts'
import type { PrintOptions } from '../../model/print.ts'
import { clockStamp, clockStampNanos } from '../../time/stamp.ts'
import type { Zone } from '../../time/zone.ts'
import type { Output, ToolIo } from './tool.ts'

/** Returns a function that puts foreign text on one line if the output is a terminal. */
export function singleLine({ isTerminal }: Pick<Output, 'isTerminal'>): (text: string) => string {
  return isTerminal ? oneLine : (text) => text
}

/** Returns options for `printValue`. */
export function printOptions(zone: Zone, { env, stdout }: Pick<ToolIo, 'env' | 'stdout'>): PrintOptions {
  return {
    clock: (time, isHighRes) => (isHighRes ? clockStampNanos(time, zone) : clockStamp(time, zone)),
    isOneLine: stdout.isTerminal,
    squashSpace: env['PCP_SQUASH_NEWLINES'] !== undefined,
  }
}

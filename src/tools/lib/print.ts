/** How commands print values: times of day in the user's zone, white space as PCP_SQUASH_NEWLINES says. */
import type { PrintOptions } from '../../model/print.ts'
import { clockStamp, clockStampNanos } from '../../time/stamp.ts'
import type { Zone } from '../../time/zone.ts'
import type { ToolIo } from './tool.ts'

/** Options for `printValue`. */
export function printOptions(zone: Zone, { env }: Pick<ToolIo, 'env'>): PrintOptions {
  return {
    clock: (time, isHighRes) => (isHighRes ? clockStampNanos(time, zone) : clockStamp(time, zone)),
    squashSpace: env['PCP_SQUASH_NEWLINES'] !== undefined,
  }
}

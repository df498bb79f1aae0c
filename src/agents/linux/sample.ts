/** Converts numbers to samples; missing ones become an error or no value, never 0. */
import { PcpError } from '../../model/errors.ts'
import type { Sample } from '../../pmda/define.ts'

const appVersion = new PcpError('PM_ERR_APPVERSION', 'Not counted by this kernel')

/** Returns a number, or PM_ERR_APPVERSION for NaN, which marks a column missing in this kernel. */
export function orUnsupported(value: number): Sample {
  return Number.isNaN(value) ? appVersion : value
}

/** Returns a number, or no value for NaN and undefined. */
export function orUndefined(value: number | undefined): number | undefined {
  return Number.isNaN(value) ? undefined : value
}

/** Parses a decimal or 0x hexadecimal number as a double; undefined for anything else. */
export function parseNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^(\d+|0x[0-9a-f]+)$/i.test(text) ? Number(text) : undefined
}

/** PM_ERR_APPVERSION as a sample. */
export function unsupported(): Sample {
  return appVersion
}

/** Numbers as samples: what the kernel did not give becomes an error or no value, never 0. */
import { PcpError } from '../../model/errors.ts'
import type { Sample } from '../../pmda/define.ts'

const appVersion = new PcpError('PM_ERR_APPVERSION', 'This kernel does not count that')

/** A number, or PM_ERR_APPVERSION for the NaN that stands for a column this kernel does not have. */
export function orUnsupported(value: number): Sample {
  return Number.isNaN(value) ? appVersion : value
}

/** A number, or no value for NaN and undefined. */
export function orNothing(value: number | undefined): number | undefined {
  return Number.isNaN(value) ? undefined : value
}

/** The number a text is, decimal or 0x hexadecimal, as a double; undefined for anything else. */
export function parseNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^(\d+|0x[0-9a-f]+)$/i.test(text) ? Number(text) : undefined
}

/** PM_ERR_APPVERSION as a sample. */
export function unsupported(): Sample {
  return appVersion
}

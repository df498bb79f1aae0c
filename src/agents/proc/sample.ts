/** Numbers in texts of /proc as samples: what is not there becomes an error, never 0. */
import { PcpError } from '../../model/errors.ts'
import type { Sample } from '../../pmda/define.ts'

const appVersion = new PcpError('PM_ERR_APPVERSION', 'This kernel does not tell that')

/** PM_ERR_APPVERSION: not in this kernel. */
export function unsupported(): PcpError {
  return appVersion
}

/** A number, or PM_ERR_APPVERSION for the NaN that stands for what is not there. */
export function orUnsupported(value: number): Sample {
  return Number.isNaN(value) ? appVersion : value
}

const ZERO = 0x30

/** The unsigned number after a label such as '\nVmRSS:' and blanks; NaN when there is no such label. */
export function numberAfter(text: string, label: string): number {
  let at = text.indexOf(label)
  if (at < 0) return Number.NaN
  at += label.length
  let code = text.charCodeAt(at)
  while (code === 0x20 || code === 0x09) code = text.charCodeAt(++at)
  return digitsAt(text, at)
}

/** The number in column `column` (from 0) of the row with that label, columns divided by blanks or tabs; NaN without it. */
export function columnAfter(text: string, label: string, column: number): number {
  const row = textAfter(text, label)
  return row === undefined ? Number.NaN : digitsAt(row.split(/\s+/)[column] ?? '', 0)
}

/** The rest of the line after a label, without blanks around it; undefined when there is no such label. */
export function textAfter(text: string, label: string): string | undefined {
  const at = text.indexOf(label)
  if (at < 0) return undefined
  const end = text.indexOf('\n', at + label.length)
  return text.slice(at + label.length, end < 0 ? text.length : end).trim()
}

function digitsAt(text: string, start: number): number {
  let value = 0
  let at = start
  for (; at < text.length; at++) {
    const digit = text.charCodeAt(at) - ZERO
    if (digit < 0 || digit > 9) break
    value = value * 10 + digit
  }
  return at === start ? Number.NaN : value
}

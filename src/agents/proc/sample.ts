/** Parses numbers in texts of /proc as samples; missing ones become an error, never 0. */
import { PcpError } from '../../model/errors.ts'
import type { Sample } from '../../pmda/define.ts'

const appVersion = new PcpError('PM_ERR_APPVERSION', 'Not provided by this kernel')

/** PM_ERR_APPVERSION: not in this kernel. */
export function unsupported(): PcpError {
  return appVersion
}

/** Returns a number, or PM_ERR_APPVERSION for NaN, which marks a missing one. */
export function orUnsupported(value: number): Sample {
  return Number.isNaN(value) ? appVersion : value
}

const ZERO = 0x30

/** Returns the unsigned number after a label such as '\nVmRSS:' and spaces; NaN without the label. */
export function numberAfter(text: string, label: string): number {
  let at = text.indexOf(label)
  if (at < 0) return Number.NaN
  at += label.length
  let code = text.charCodeAt(at)
  while (code === 0x20 || code === 0x09) code = text.charCodeAt(++at)
  return digitsAt(text, at)
}

/** Returns the number in column `column` (from 0) of the row with a label, separated by spaces or tabs; NaN without it. */
export function columnAfter(text: string, label: string, column: number): number {
  const row = textAfter(text, label)
  return row === undefined ? Number.NaN : digitsAt(row.split(/\s+/)[column] ?? '', 0)
}

/** Returns the trimmed rest of the line after a label; undefined without the label. */
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

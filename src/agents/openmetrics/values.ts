/** Parses values in exposed text. docs/reference/agents/openmetrics.md */
import { type Outcome, PcpError } from '../../model/errors.ts'
import type { Value } from '../../model/values.ts'
import type { ValueType } from './metadata.ts'

const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i
const HEX = /^[+-]?0x[\da-f]+$/i
const SPECIAL = /^([+-]?)(?:(inf(?:inity)?)|nan)$/i
const RANGES: { readonly [type in ValueType]?: readonly [bigint, bigint] } = {
  '32': [-(2n ** 31n), 2n ** 31n - 1n],
  u32: [0n, 2n ** 32n - 1n],
  '64': [-(2n ** 63n), 2n ** 63n - 1n],
  u64: [0n, 2n ** 64n - 1n],
}

/** Parses a value of a type; returns PM_ERR_CONV for an invalid one. */
export function readValue(text: string, type: ValueType): Outcome<Value> {
  if (type === 'string') return text
  const range = RANGES[type]
  if (range === undefined) return readNumber(text) ?? wrong(text, type)
  const whole = readWhole(text)
  return whole === undefined || whole < range[0] || whole > range[1] ? wrong(text, type) : whole
}

function readNumber(text: string): number | undefined {
  if (DECIMAL.test(text)) return Number(text)
  if (HEX.test(text)) return text.startsWith('-') ? -Number(text.slice(1)) : Number(text.replace('+', ''))
  const special = SPECIAL.exec(text)
  if (special === null) return undefined
  if (special[2] === undefined) return Number.NaN
  return special[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
}

/** Exact for digits; other spellings (1e+06, 3.0) if they are integers. */
function readWhole(text: string): bigint | undefined {
  if (/^[+-]?\d+$/.test(text)) return BigInt(text.replace('+', ''))
  const value = readNumber(text)
  return value !== undefined && Number.isInteger(value) ? BigInt(value) : undefined
}

function wrong(text: string, type: ValueType): PcpError {
  return new PcpError('PM_ERR_CONV', `"${text}" is not a value of type ${type}`)
}

/** Properties in `mkconst` and `novalue`: `type=u64, units="Kbyte"`. docs/reference/derived-metrics.md */
import { PcpError } from '../model/errors.ts'
import { DOMAIN_RESERVED, indom, PM_INDOM_NULL } from '../model/ids.ts'
import { parseUnits } from '../model/parse-units.ts'
import {
  PM_SEM_COUNTER,
  PM_SEM_DISCRETE,
  PM_SEM_INSTANT,
  PM_TYPE_32,
  PM_TYPE_64,
  PM_TYPE_DOUBLE,
  PM_TYPE_FLOAT,
  PM_TYPE_U32,
  PM_TYPE_U64,
} from '../model/types.ts'
import type { ExplicitMeta } from './expr.ts'
import { SyntaxFaultError, type Token } from './tokens.ts'

const TYPES: Readonly<Record<string, number>> = {
  '32': PM_TYPE_32,
  u32: PM_TYPE_U32,
  '64': PM_TYPE_64,
  u64: PM_TYPE_U64,
  float: PM_TYPE_FLOAT,
  double: PM_TYPE_DOUBLE,
}
const SEMANTICS: Readonly<Record<string, number>> = {
  counter: PM_SEM_COUNTER,
  instant: PM_SEM_INSTANT,
  discrete: PM_SEM_DISCRETE,
}
const MAX_SERIAL = 0x3fffff

/** Returns `stated` with the property `key=value`; the last one of a key applies. Throws Fault at the value. */
export function withProperty(stated: ExplicitMeta, key: string, { text, offset }: Token): ExplicitMeta {
  switch (key) {
    case 'type':
      return { ...stated, type: oneOf(TYPES, key, text, offset) }
    case 'semantics':
      return { ...stated, sem: oneOf(SEMANTICS, key, text, offset) }
    case 'units':
      return { ...stated, units: unitsOf(text, offset) }
    case 'indom':
      return { ...stated, indom: indomOf(text, offset) }
    default:
      return { ...stated, meta: text }
  }
}

function oneOf(table: Readonly<Record<string, number>>, key: string, text: string, offset: number): number {
  const lower = text.toLowerCase()
  if (Object.hasOwn(table, lower)) return table[lower]!
  throw new SyntaxFaultError(offset, `Unrecognized value for ${key} '${text}'`)
}

/** Parses units; a factor is ignored. Throws Fault. */
export function unitsOf(text: string, offset: number): number {
  try {
    return parseUnits(text).units
  } catch (error) {
    const { message } = PcpError.from(error)
    throw new SyntaxFaultError(offset, `Illegal units: '${message.slice(message.lastIndexOf(': ') + 2)}'`)
  }
}

function indomOf(text: string, offset: number): number {
  if (text.toLowerCase() === 'null') return PM_INDOM_NULL
  const parts = /^(\d+)\.(\d+)$/.exec(text)
  const domain = Number(parts?.[1])
  const serial = Number(parts?.[2])
  if (domain < DOMAIN_RESERVED && serial <= MAX_SERIAL) return indom(domain, serial)
  throw new SyntaxFaultError(offset, `Illegal indom: '${text}'`)
}

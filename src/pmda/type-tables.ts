/** Numbers of the types, semantics and units used in agents' tables. */
import { PcpError } from '../model/errors.ts'
import { unitsFromText } from '../model/parse-units.ts'
import {
  PM_SEM_COUNTER,
  PM_SEM_DISCRETE,
  PM_SEM_INSTANT,
  PM_TYPE_32,
  PM_TYPE_64,
  PM_TYPE_AGGREGATE,
  PM_TYPE_DOUBLE,
  PM_TYPE_EVENT,
  PM_TYPE_FLOAT,
  PM_TYPE_HIGHRES_EVENT,
  PM_TYPE_NOSUPPORT,
  PM_TYPE_STRING,
  PM_TYPE_U32,
  PM_TYPE_U64,
} from '../model/types.ts'
import type { SemName, TypeName } from './define.ts'

/** Types by their names in tables. */
export const TYPES: { readonly [name in TypeName]: number } = {
  '32': PM_TYPE_32,
  u32: PM_TYPE_U32,
  '64': PM_TYPE_64,
  u64: PM_TYPE_U64,
  float: PM_TYPE_FLOAT,
  double: PM_TYPE_DOUBLE,
  string: PM_TYPE_STRING,
  aggregate: PM_TYPE_AGGREGATE,
  event: PM_TYPE_EVENT,
  'highres-event': PM_TYPE_HIGHRES_EVENT,
  nosupport: PM_TYPE_NOSUPPORT,
}

/** Semantics by their names in tables. */
export const SEMANTICS: { readonly [name in SemName]: number } = {
  counter: PM_SEM_COUNTER,
  instant: PM_SEM_INSTANT,
  discrete: PM_SEM_DISCRETE,
}

/** Most unit texts cached; agents that build them at run time may have more. */
const MOST_UNITS = 1000
const unitsByText = new Map<string, number>()

/** Returns the encoded units of a text. An agent has a thousand metrics and a dozen units: each text is parsed once. */
export function unitsWord(where: string, text: string): number {
  let word = unitsByText.get(text)
  if (word === undefined) {
    try {
      word = unitsFromText(text)
    } catch (error) {
      throw new PcpError('EINVAL', `${where}: units ${JSON.stringify(text)}: ${(error as Error).message}`, {
        cause: error,
      })
    }
    if (unitsByText.size >= MOST_UNITS) unitsByText.clear()
    unitsByText.set(text, word)
  }
  return word
}

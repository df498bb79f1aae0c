/** A metric whose descriptor can be changed by storing, to test clients. pmLookupDesc(3) */
import { encodeText } from '../../base/text.ts'
import type { MetricDesc } from '../../model/desc.ts'
import { PM_INDOM_NULL } from '../../model/ids.ts'
import {
  PM_SEM_DISCRETE,
  PM_TYPE_32,
  PM_TYPE_AGGREGATE,
  PM_TYPE_DOUBLE,
  PM_TYPE_STRING,
} from '../../model/types.ts'
import type { Value } from '../../model/values.ts'
import type { MetricSpec } from '../../pmda/define.ts'
import { descOf, type Rows } from './context.ts'

type Field = Exclude<keyof MetricDesc, 'pmid'>

/** Rows of the metric and the fields of its descriptor. */
export function metaRows(): Rows {
  // These units are byte / sec.
  const now = { type: PM_TYPE_32, indom: PM_INDOM_NULL, sem: PM_SEM_DISCRETE, units: 0x1f003000 }
  const part = (item: number, field: Field, help: string): MetricSpec => ({
    item,
    ...descOf('u32', 'discrete', 'count'),
    help,
    value: () => now[field] >>> 0,
    store: (value) => {
      // Type numbers are signed, for example -1.
      now[field] = field === 'type' ? Number(value) | 0 : Number(value)
    },
  })
  return {
    'dynamic.meta.metric': {
      item: 86,
      ...descOf('32', 'discrete', 'byte / sec'),
      help: 'Always 42, with a descriptor that can be changed',
      text: 'The metrics sample.dynamic.meta.pmdesc are the fields of the descriptor as numbers and can be stored.',
      describe: (desc) => ({ ...desc, ...now }),
      value: () => answerAs(now.type),
    },
    'dynamic.meta.pmdesc.type': part(
      87,
      'type',
      'Type of the changing metric, as its number in the protocol',
    ),
    'dynamic.meta.pmdesc.indom': part(88, 'indom', 'Instance domain of the changing metric'),
    'dynamic.meta.pmdesc.sem': part(
      89,
      'sem',
      'Semantics of the changing metric, as their number in the protocol',
    ),
    'dynamic.meta.pmdesc.units': part(90, 'units', 'Units of the changing metric, packed into a word'),
  }
}

/** 42 as a value of a type; undefined for a type without such a value. */
function answerAs(type: number): Value | undefined {
  if (type === PM_TYPE_STRING) return '42'
  if (type === PM_TYPE_AGGREGATE) return encodeText('42')
  return type >= PM_TYPE_32 && type <= PM_TYPE_DOUBLE ? 42 : undefined
}

/** Constants of every type, and a metric of every type that can be stored to. */
import { encodeText } from '../../base/text.ts'
import type { Value } from '../../model/values.ts'
import { PMCD_LABEL_CHANGE } from '../../model/values.ts'
import type { MetricSpec, TypeName } from '../../pmda/define.ts'
import { descOf, type Rows, type SampleContext } from './context.ts'

/** A family: items of its first and last constants and of its writable metric. */
interface Family {
  readonly name: string
  readonly type: TypeName
  readonly first: number
  readonly writable: number
  readonly kind: string
}

const FAMILIES: readonly Family[] = [
  { name: 'long', type: '32', first: 10, writable: 14, kind: 'signed 32-bit integer' },
  { name: 'ulong', type: 'u32', first: 93, writable: 97, kind: 'unsigned 32-bit integer' },
  { name: 'longlong', type: '64', first: 20, writable: 24, kind: 'signed 64-bit integer' },
  { name: 'ulonglong', type: 'u64', first: 98, writable: 102, kind: 'unsigned 64-bit integer' },
  { name: 'float', type: 'float', first: 15, writable: 19, kind: 'single-precision number' },
  { name: 'double', type: 'double', first: 25, writable: 29, kind: 'double-precision number' },
]
const VALUES: readonly (readonly [name: string, value: number])[] = [
  ['one', 1],
  ['ten', 10],
  ['hundred', 100],
  ['million', 1_000_000],
]
const COUNTS: readonly (readonly [name: string, units: string, value: number])[] = [
  ['base', 'count / Mbyte', 42_000_000],
  ['deca', 'count x 10 / Mbyte', 4_200_000],
  ['hecto', 'count x 10^2 / Mbyte', 420_000],
  ['kilo', 'count x 10^3 / Mbyte', 42_000],
  ['mega', 'count x 10^6 / Mbyte', 42],
]

/** Rows of all families. */
export function constantRows(context: SampleContext): Rows {
  const rows: { [name: string]: MetricSpec } = {
    write_me: writable(
      context,
      36,
      descOf('32', 'instant', 'count / sec'),
      2,
      'A rate that can be changed, 2 at first',
    ),
  }
  for (const { name, type, first, writable: item, kind } of FAMILIES) {
    for (const [i, [word, value]] of VALUES.entries())
      rows[`${name}.${word}`] = constant(first + i, descOf(type), value, `Always ${value}, as a ${kind}`)
    rows[`${name}.write_me`] = writable(context, item, descOf(type), 13, `A ${kind} to store to, 13 at first`)
  }
  for (const [i, [word, units, value]] of COUNTS.entries())
    rows[`ulong.count.${word}`] = constant(115 + i, descOf('u32', 'instant', units), value, COUNT_HELP)
  return { ...rows, ...textRows() }
}

const COUNT_HELP = 'The same events for each megabyte whatever the scale of the count: 42 million'

function constant(item: number, shape: ReturnType<typeof descOf>, value: Value, help: string): MetricSpec {
  return { item, ...shape, help, value: () => value }
}

/** A writable metric, with an optional label that shows whether its value was changed. */
function writable(
  context: SampleContext,
  item: number,
  shape: ReturnType<typeof descOf>,
  initial: number,
  help: string,
): MetricSpec {
  let value: Value = initial
  return {
    item,
    ...shape,
    help,
    text: `Any value of its type can be stored. The optional label "changed" shows whether it is still ${initial}.`,
    optionalLabels: () => ({ changed: value !== initial }),
    value: () => value,
    store: (stored) => {
      const wasChanged = value !== initial
      value = stored
      if (wasChanged !== (value !== initial))
        context.env.announce({ type: 'changed', changes: PMCD_LABEL_CHANGE })
    },
  }
}

function textRows(): Rows {
  let text: Value = '13'
  let block: Value = encodeText('13')
  return {
    'string.null': constant(30, descOf('string'), '', 'A text of no characters'),
    'string.hullo': constant(31, descOf('string'), 'hullo world!', 'A friendly text that never changes'),
    'string.write_me': {
      item: 32,
      ...descOf('string'),
      help: 'A text to store to, "13" at first',
      value: () => text,
      store: (stored) => {
        text = stored
      },
    },
    'aggregate.null': constant(33, descOf('aggregate'), encodeText(''), 'A block of no bytes'),
    'aggregate.hullo': constant(
      34,
      descOf('aggregate'),
      encodeText('hullo world!'),
      'Twelve bytes that never change',
    ),
    'aggregate.write_me': {
      item: 35,
      ...descOf('aggregate'),
      help: 'A block of bytes to store to, the digits 13 at first',
      value: () => block,
      store: (stored) => {
        block = stored
      },
    },
  }
}

/** Event records of every shape, in a cycle of four fetches. docs/formats/wire.md §5.4, §5.5 */
import { fromMillis } from '../../base/timestamp.ts'
import {
  encodeEvents,
  type NewEventRecord,
  PM_EVENT_FLAG_END,
  PM_EVENT_FLAG_ID,
  PM_EVENT_FLAG_MISSED,
  PM_EVENT_FLAG_PARENT,
  PM_EVENT_FLAG_POINT,
  PM_EVENT_FLAG_START,
} from '../../model/events.ts'
import { type Pmid, pmid } from '../../model/ids.ts'
import {
  PM_TYPE_32,
  PM_TYPE_64,
  PM_TYPE_AGGREGATE,
  PM_TYPE_DOUBLE,
  PM_TYPE_EVENT,
  PM_TYPE_FLOAT,
  PM_TYPE_HIGHRES_EVENT,
  PM_TYPE_STRING,
  PM_TYPE_U32,
  PM_TYPE_U64,
} from '../../model/types.ts'
import type { Value } from '../../model/values.ts'
import type { IndomSpec, MetricSpec, TypeName } from '../../pmda/define.ts'
import { descOf, type Rows, type SampleContext } from './context.ts'

type Parameter = NewEventRecord['params'][number]

/** Metrics that only name parameters: name, type in tables, type number. Items start at 127. */
const PARAMETERS = [
  ['type', '32', PM_TYPE_32],
  ['param_32', '32', PM_TYPE_32],
  ['param_u32', 'u32', PM_TYPE_U32],
  ['param_64', '64', PM_TYPE_64],
  ['param_u64', 'u64', PM_TYPE_U64],
  ['param_float', 'float', PM_TYPE_FLOAT],
  ['param_double', 'double', PM_TYPE_DOUBLE],
  ['param_string', 'string', PM_TYPE_STRING],
  ['param_aggregate', 'aggregate', PM_TYPE_AGGREGATE],
] as const satisfies readonly (readonly [string, TypeName, number])[]
const FIRST_PARAMETER = 127
type ParameterName = (typeof PARAMETERS)[number][0]

const SOURCES: IndomSpec = {
  serial: 10,
  instances: { fungus: 0, bogus: 1 },
  help: 'Sources of events: one of every shape, one of texts',
}

const START_ID_PARENT = PM_EVENT_FLAG_START | PM_EVENT_FLAG_ID | PM_EVENT_FLAG_PARENT
/** Age of the first record of an array; the others follow at intervals of a second. */
const AGE_MS = 10_000
/** A parameter unknown to any agent. */
const UNKNOWN_PARAMETER: Pmid = pmid(0, 100, 200)

/** Rows of all metrics about events. */
export function eventRows(context: SampleContext): Rows {
  const events = new Events(context, PM_TYPE_EVENT)
  const highres = new Events(context, PM_TYPE_HIGHRES_EVENT)
  return {
    'event.records': events.row(136, 'event', 'Event records of two sources'),
    'event.no_indom_records': {
      item: 137,
      ...descOf('event'),
      help: 'Event records of no particular source: texts',
      value: () => events.texts(),
    },
    'event.highres_records': highres.row(
      139,
      'highres-event',
      'Event records of two sources, to the nanosecond',
    ),
    'event.reset': events.reset(126, 'sample.event.records'),
    'event.reset_highres': highres.reset(140, 'sample.event.highres_records'),
    ...parameterRows(),
  }
}

function parameterRows(): Rows {
  const rows: { [name: string]: MetricSpec } = {}
  for (const [i, [name, type]] of PARAMETERS.entries())
    rows[`event.${name}`] = {
      item: FIRST_PARAMETER + i,
      ...descOf(type),
      help:
        name === 'type'
          ? 'Kind of an event: the first parameter of most records'
          : `A parameter of type ${type} in event records`,
      text: 'It has no values outside event records.',
      value: () => undefined,
    }
  return rows
}

/** The events of one resolution. */
class Events {
  readonly #context: SampleContext
  readonly #type: number
  /** The next array, 0 to 3; -1 for one with a mistake. */
  #position = 0
  /** Number of the next text. */
  #fetch = 0

  constructor(context: SampleContext, type: number) {
    this.#context = context
    this.#type = type
  }

  row(item: number, type: TypeName, help: string): MetricSpec {
    return {
      item,
      ...descOf(type),
      indom: SOURCES,
      help,
      text: 'The first source has no record, one, two, then five records of all shapes, in a cycle. The second has the text "fetch #N", and every third time another one.',
      value: (inst) => (inst === 0 ? this.#shapes() : this.texts()),
    }
  }

  reset(item: number, metric: string): MetricSpec {
    return {
      item,
      ...descOf('32'),
      help: `Next array of ${metric}, 0 to 3`,
      text: 'Can be stored, which also sets the number of the next text. With -1 the next array has a parameter that does not exist.',
      value: () => this.#position,
      store: (value) => {
        this.#fetch = Number(value)
        this.#position = this.#fetch % SHAPES.length
      },
    }
  }

  /** Texts of the second source. */
  texts(): Value {
    const number = this.#fetch++
    const words = number % 3 === 0 ? [`fetch #${number}`, 'bingo!'] : [`fetch #${number}`]
    const now = this.#context.env.clock()
    return this.#encode(
      words.map((word) => [PM_EVENT_FLAG_POINT, ['param_string', word]]),
      now,
      0,
    )
  }

  #shapes(): Value {
    const first = this.#context.env.clock() - AGE_MS
    const position = this.#position
    this.#position = (position + 1) % SHAPES.length
    return this.#encode(position === -1 ? MISTAKE : (SHAPES[position] ?? []), first, 1000)
  }

  #encode(shapes: readonly Shape[], firstMs: number, stepMs: number): Value {
    const records = shapes.map(
      ([flags, ...params], i): NewEventRecord => ({
        timestamp: fromMillis(firstMs + i * stepMs),
        flags,
        ...(flags === PM_EVENT_FLAG_MISSED ? { missed: MISSED } : {}),
        params: params.map((param) => this.#parameter(param)),
      }),
    )
    return encodeEvents(this.#type, records)
  }

  #parameter([name, value]: ShapeParameter): Parameter {
    if (name === 'unknown') return { pmid: UNKNOWN_PARAMETER, type: PM_TYPE_32, value }
    const at = PARAMETERS.findIndex(([each]) => each === name)
    return { pmid: this.#context.pmidOf(FIRST_PARAMETER + at), type: PARAMETERS[at]![2], value }
  }
}

type ShapeParameter = readonly [name: ParameterName | 'unknown', value: Value]
/** A record without its time stamp: flags, then parameters. */
type Shape = readonly [flags: number, ...params: ShapeParameter[]]

/** Number of lost records in the missed record. */
const MISSED = 7
const BLOCK = Uint8Array.of(0x01, 0x03, 0x07, 0x0f, 0x1f, 0x3f, 0x7f, 0xff)

const SHAPES: readonly (readonly Shape[])[] = [
  [],
  [[PM_EVENT_FLAG_POINT]],
  [
    [PM_EVENT_FLAG_POINT, ['type', 1]],
    [PM_EVENT_FLAG_POINT, ['type', 2], ['param_64', -3]],
  ],
  [
    [START_ID_PARENT, ['type', 4], ['param_u64', 5], ['param_string', '6']],
    [PM_EVENT_FLAG_POINT, ['type', 7], ['param_double', 8], ['param_double', -9]],
    [
      PM_EVENT_FLAG_END,
      ['type', 10],
      ['param_u64', 11],
      ['param_string', 'twelve'],
      ['param_string', 'thirteen'],
      ['param_32', -14],
      ['param_u32', 15],
    ],
    [PM_EVENT_FLAG_MISSED],
    [PM_EVENT_FLAG_POINT, ['type', 16], ['param_float', -17], ['param_aggregate', BLOCK]],
  ],
]
const MISTAKE: readonly Shape[] = [[PM_EVENT_FLAG_POINT, ['type', -1], ['unknown', 0]]]

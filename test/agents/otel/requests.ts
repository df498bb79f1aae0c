/** Requests of OTLP as clients send them: JSON, and protocol buffers written without any code of the agent. */

type Json = { readonly [key: string]: unknown }

/** Attributes in OTLP's JSON form. */
export function attributes(values: Json): Json[] {
  const any = (value: unknown): Json => {
    if (typeof value === 'string') return { stringValue: value }
    if (typeof value === 'boolean') return { boolValue: value }
    if (typeof value === 'number')
      return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value }
    if (Array.isArray(value)) return { arrayValue: { values: value.map(any) } }
    return { kvlistValue: { values: attributes(value as Json) } }
  }
  return Object.entries(values).map(([key, value]) => ({ key, value: any(value) }))
}

/** A point with attributes as a plain object. */
export function point({ attributes: given = {}, ...rest }: Json & { readonly attributes?: Json }): Json {
  return { timeUnixNano: '1700000000000000000', ...rest, attributes: attributes(given) }
}

/** A request of one resource and one scope. */
export function metricsRequest({
  resource = { 'service.name': 'shop' },
  scope = {},
  metrics,
}: {
  readonly resource?: Json
  readonly scope?: Json
  readonly metrics: readonly Json[]
}): Json {
  return {
    resourceMetrics: [{ resource: { attributes: attributes(resource) }, scopeMetrics: [{ scope, metrics }] }],
  }
}

/** How each field of a message is written: number, and wire form or fields of the message it is. */
type Form = 's' | 'varint' | 'zigzag' | 'fixed64' | 'double' | 'doubles' | 'fixed64s' | 'varints' | Layout
interface Layout {
  readonly [name: string]: readonly [number: number, form: Form | (() => Form)]
}

const ANY: Layout = {
  stringValue: [1, 's'],
  boolValue: [2, 'varint'],
  intValue: [3, 'varint'],
  doubleValue: [4, 'double'],
  arrayValue: [5, { values: [1, () => ANY] }],
  kvlistValue: [6, { values: [1, () => PAIR] }],
}
const PAIR: Layout = { key: [1, 's'], value: [2, ANY] }
const NUMBER: Layout = {
  startTimeUnixNano: [2, 'fixed64'],
  timeUnixNano: [3, 'fixed64'],
  asDouble: [4, 'double'],
  asInt: [6, 'fixed64'],
  attributes: [7, PAIR],
  flags: [8, 'varint'],
}
const BUCKETS: Layout = { offset: [1, 'zigzag'], bucketCounts: [2, 'varints'] }
const LAYOUT: Layout = {
  resourceMetrics: [
    1,
    {
      resource: [1, { attributes: [1, PAIR] }],
      scopeMetrics: [
        2,
        {
          scope: [1, { name: [1, 's'], version: [2, 's'], attributes: [3, PAIR] }],
          metrics: [
            2,
            {
              name: [1, 's'],
              description: [2, 's'],
              unit: [3, 's'],
              gauge: [5, { dataPoints: [1, NUMBER] }],
              sum: [
                7,
                {
                  dataPoints: [1, NUMBER],
                  aggregationTemporality: [2, 'varint'],
                  isMonotonic: [3, 'varint'],
                },
              ],
              histogram: [
                9,
                {
                  dataPoints: [
                    1,
                    {
                      timeUnixNano: [3, 'fixed64'],
                      count: [4, 'fixed64'],
                      sum: [5, 'double'],
                      bucketCounts: [6, 'fixed64s'],
                      explicitBounds: [7, 'doubles'],
                      attributes: [9, PAIR],
                      min: [11, 'double'],
                      max: [12, 'double'],
                    },
                  ],
                  aggregationTemporality: [2, 'varint'],
                },
              ],
              exponentialHistogram: [
                10,
                {
                  dataPoints: [
                    1,
                    {
                      attributes: [1, PAIR],
                      timeUnixNano: [3, 'fixed64'],
                      count: [4, 'fixed64'],
                      sum: [5, 'double'],
                      scale: [6, 'zigzag'],
                      zeroCount: [7, 'fixed64'],
                      positive: [8, BUCKETS],
                      negative: [9, BUCKETS],
                    },
                  ],
                  aggregationTemporality: [2, 'varint'],
                },
              ],
              summary: [
                11,
                {
                  dataPoints: [
                    1,
                    {
                      timeUnixNano: [3, 'fixed64'],
                      count: [4, 'fixed64'],
                      sum: [5, 'double'],
                      quantileValues: [6, { quantile: [1, 'double'], value: [2, 'double'] }],
                      attributes: [7, PAIR],
                    },
                  ],
                },
              ],
            },
          ],
        },
      ],
    },
  ],
}

/** The bytes of a request in either form. */
export function request(form: 'json' | 'protobuf', body: Json): Uint8Array {
  return form === 'json' ? Buffer.from(JSON.stringify(body)) : message(body, LAYOUT)
}

function message(body: Json, layout: Layout): Buffer {
  const parts: Buffer[] = []
  for (const [name, value] of Object.entries(body)) {
    const [number, lazy] = layout[name]!
    const form = typeof lazy === 'function' ? lazy() : lazy
    const isBlock = typeof form === 'string' && form.endsWith('s') && form !== 's'
    const values = Array.isArray(value) && !isBlock ? value : [value]
    for (const each of values) parts.push(field(number, form, each))
  }
  return Buffer.concat(parts)
}

function field(number: number, form: Form, value: unknown): Buffer {
  const block = (bytes: Buffer): Buffer =>
    Buffer.concat([varint((number << 3) | 2), varint(bytes.length), bytes])
  if (typeof form === 'object') return block(message(value as Json, form))
  switch (form) {
    case 's':
      return block(Buffer.from(String(value)))
    case 'varint':
      return Buffer.concat([varint(number << 3), varint(BigInt.asUintN(64, BigInt(value as number)))])
    case 'zigzag': {
      const plain = Number(value)
      return Buffer.concat([varint(number << 3), varint(plain < 0 ? -2 * plain - 1 : 2 * plain)])
    }
    case 'fixed64':
      return Buffer.concat([varint((number << 3) | 1), fixed64(value)])
    case 'double':
      return Buffer.concat([varint((number << 3) | 1), double(value)])
    case 'doubles':
      return block(Buffer.concat((value as unknown[]).map(double)))
    case 'fixed64s':
      return block(Buffer.concat((value as unknown[]).map(fixed64)))
    case 'varints':
      return block(Buffer.concat((value as unknown[]).map((each) => varint(BigInt(each as number)))))
  }
}

function varint(value: number | bigint): Buffer {
  const bytes: number[] = []
  let rest = BigInt(value)
  for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80)
  return Buffer.from([...bytes, Number(rest)])
}

function fixed64(value: unknown): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(BigInt.asUintN(64, BigInt(value as number)))
  return bytes
}

function double(value: unknown): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleLE(Number(value))
  return bytes
}

/** Rows of named values. docs/reference/client-library.md */
import type { Timestamp } from '../base/timestamp.ts'
import type { MetricDesc } from '../model/desc.ts'
import { PcpError } from '../model/errors.ts'
import { PM_INDOM_NULL } from '../model/ids.ts'
import type { Value } from '../model/values.ts'

/** The values of one metric in one row. */
export interface MetricValues {
  readonly name: string
  readonly desc: MetricDesc
  /** Units of the values as text, '' for none; for a converted counter those of the rate. */
  readonly units: string
  /** Error of the whole metric. */
  readonly error: PcpError | undefined
  /** Value of a metric without instances; undefined without a current value. */
  readonly value: Value | undefined
  /** Values by instance name; empty for a metric without instances. */
  readonly instances: ReadonlyMap<string, Value>
}

/** A metric's value, or its values by instance name. */
export type PlainValues<V> = V | { readonly [instance: string]: V }

/** JSON form of a row. */
export interface RowJson {
  /** UTC, with nanoseconds: `2026-11-20T12:00:00.250000000Z`. */
  readonly time: string
  /** By metric. An integer beyond 2^53 is a string of digits, bytes are base64. */
  readonly values: { readonly [metric: string]: PlainValues<number | string> }
  /** Error codes of the metrics that failed. */
  readonly errors: { readonly [metric: string]: string }
  /** Code of the error with which the source was lost, in a row without values. */
  readonly away?: string
}

type Inspect = (shown: unknown, options: object) => string

/** The values of several metrics at one time. `N` are the names requested. */
export class Row<N extends string = string> {
  /** When the values were fetched, or when the loss of the source was detected. */
  readonly time: Timestamp
  /** Error with which the source was lost, in a row that marks its absence; otherwise undefined. */
  readonly away: PcpError | undefined
  readonly #metrics: ReadonlyMap<string, MetricValues>

  /** Rows are created by `Context.sample` and `Context.values`. */
  constructor(time: Timestamp, metrics: ReadonlyMap<string, MetricValues>, away?: PcpError) {
    this.time = time
    this.away = away
    this.#metrics = metrics
  }

  /** Returns one metric. PM_ERR_NAME if it was not requested. */
  get(name: N | (string & {})): MetricValues {
    const metric = this.#metrics.get(name)
    if (metric === undefined) throw new PcpError('PM_ERR_NAME', `Metric "${name}" was not requested`)
    return metric
  }

  /**
   * Returns one value of a metric, or of one instance by its full name; undefined without a current value. PM_ERR_INDOM for
   * a missing or unexpected instance.
   */
  value(name: N | (string & {}), instance?: string): Value | undefined {
    const metric = this.get(name)
    if ((metric.desc.indom === PM_INDOM_NULL) !== (instance === undefined))
      throw new PcpError(
        'PM_ERR_INDOM',
        instance === undefined
          ? `Metric "${name}" has instances: name one, or take all with get("${name}").instances`
          : `Metric "${name}" has no instances: leave "${instance}" out`,
      )
    return instance === undefined ? metric.value : metric.instances.get(instance)
  }

  /** Iterates over all metrics, in the order requested. */
  [Symbol.iterator](): IterableIterator<MetricValues> {
    return this.#metrics.values()
  }

  /**
   * Returns the values as plain objects: `{ 'hinv.ncpu': 8, 'kernel.all.load': { '1 minute': 0.25, ... } }`. Metrics that
   * failed or have no current value are missing.
   */
  toObject(): { [metric: string]: PlainValues<Value> } {
    return this.#plain((value) => value)
  }

  /** Returns the form that JSON.stringify writes. */
  toJSON(): RowJson {
    const failed = [...this].flatMap(({ name, error }) => (error === undefined ? [] : [[name, error.code]]))
    return {
      time: isoTime(this.time),
      values: this.#plain(jsonValue),
      errors: Object.fromEntries(failed),
      ...(this.away === undefined ? {} : { away: this.away.code }),
    }
  }

  /** Formats the row for console.log: the time, and the value or error code of every metric. */
  #inspect(options: object, inspect: Inspect): string {
    if (this.away !== undefined) return `Row ${isoTime(this.time)} away: ${this.away.message}`
    const shown: Record<string, unknown> = this.toObject()
    for (const { name, error } of this) if (error !== undefined) shown[name] = error.code
    return `Row ${isoTime(this.time)} ${inspect(shown, options)}`
  }

  static {
    // Defined at runtime, because a method cannot be declared by a symbol without an import; not enumerable.
    Object.defineProperty(Row.prototype, Symbol.for('nodejs.util.inspect.custom'), {
      value(this: Row, _depth: number, options: object, inspect: Inspect): string {
        return this.#inspect(options, inspect)
      },
    })
  }

  #plain<V>(convert: (value: Value) => V): { [metric: string]: PlainValues<V> } {
    const plain = [...this].flatMap(({ name, desc, error, value, instances }): [string, PlainValues<V>][] => {
      if (error !== undefined) return []
      if (desc.indom === PM_INDOM_NULL) return value === undefined ? [] : [[name, convert(value)]]
      const pairs = Array.from(instances, ([instance, each]): [string, V] => [instance, convert(each)])
      return [[name, Object.fromEntries(pairs)]]
    })
    return Object.fromEntries(plain)
  }
}

function jsonValue(value: Value): number | string {
  if (typeof value === 'bigint') return String(value)
  if (!(value instanceof Uint8Array)) return value
  return btoa(Array.from(value, (byte) => String.fromCharCode(byte)).join(''))
}

function isoTime({ sec, nsec }: Timestamp): string {
  const date = new Date(sec * 1000)
  // Outside the range of Date.
  if (Number.isNaN(date.getTime())) return `${sec}.${String(nsec).padStart(9, '0')}`
  return date.toISOString().replace(/\d{3}Z$/, `${String(nsec).padStart(9, '0')}Z`)
}

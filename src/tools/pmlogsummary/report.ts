/** Formats summaries. */
import type { Archive } from '../../archive/archive.ts'
import type { ByteText } from '../../base/byte-text.ts'
import type { Indom } from '../../model/ids.ts'
import { PM_INDOM_NULL } from '../../model/ids.ts'
import { PM_SEM_COUNTER } from '../../model/types.ts'
import { PM_TIME_SEC, packUnits, unitsStr, unpackUnits } from '../../model/units.ts'
import { addTimes } from '../../time/arithmetic.ts'
import { clockStamp } from '../../time/stamp.ts'
import type { Zone } from '../../time/zone.ts'
import { dateStamp } from '../lib/archive-input.ts'
import type { MetricBins } from './bins.ts'
import type { InstanceSummary, MetricSummary } from './metric-summary.ts'
import type { SummaryOptions } from './options.ts'

/** Counters covered for at most this part of the window are marked. */
const SELDOM = 0.1

/** Context for formatting. */
export interface Report {
  readonly archive: Archive
  readonly out: ByteText
  readonly wanted: SummaryOptions
  readonly zone: Zone
  /** Seconds from start to finish. */
  readonly window: number
  readonly instances: InstanceNames
  /** Escapes names for a line of output. */
  readonly form: (text: string) => string
  /** Print times with a date. */
  readonly withDate: boolean
}

/** A metric to report. */
export interface ReportedMetric {
  readonly name: string
  readonly summary: MetricSummary
  readonly bins: MetricBins | undefined
  /** Names of instances; empty for all. */
  readonly instances: readonly string[]
}

/** Returns the column headings. */
export function headerLine({ wanted }: Pick<Report, 'wanted'>): string {
  const columns: readonly (readonly [boolean, string])[] = [
    [true, 'metric'],
    [wanted.stochastic, 'stochastic_average'],
    [wanted.time, 'time_average'],
    [wanted.sum, 'sum'],
    [wanted.minimum, 'minimum'],
    [wanted.minimumTime, 'minimum_time'],
    [wanted.maximum, 'maximum'],
    [wanted.maximumTime, 'maximum_time'],
    [wanted.count, 'count'],
    [wanted.bins > 0, 'bins'],
    [true, 'units'],
  ]
  const names = columns.filter(([isWanted]) => isWanted).map(([, name]) => name)
  return `${names.join(wanted.delimiter)}\n`
}

/** Writes a line for each instance of a metric, in order of first appearance. */
export function writeMetric(report: Report, metric: ReportedMetric): void {
  const { desc, instances } = metric.summary
  const units = unitsText(report, metric)
  for (let slot = 0; slot < instances.length; slot++) {
    const known = metric.summary.summary(slot)
    if (known === undefined) continue
    const name = desc.indom === PM_INDOM_NULL ? undefined : report.instances.of(desc.indom, known.inst)
    if (metric.instances.length > 0 && (name === undefined || !metric.instances.includes(name))) continue
    const instance =
      desc.indom === PM_INDOM_NULL ? '' : name === undefined ? `[${known.inst}]` : `["${report.form(name)}"]`
    writeLine(report, metric, slot, known, instance, units)
  }
}

function writeLine(
  report: Report,
  { name, summary, bins }: ReportedMetric,
  slot: number,
  known: InstanceSummary,
  instance: string,
  units: string,
): void {
  const { out, wanted } = report
  const { delimiter } = wanted
  const isCounter = summary.desc.sem === PM_SEM_COUNTER
  if (isCounter && known.span / report.window <= SELDOM) out.byte(0x2a)
  out.text(name)
  out.text(delimiter)
  out.text(instance)
  out.text(delimiter)
  if (isCounter && known.span <= 0) {
    out.text('- insufficient archive data.\n')
    return
  }
  const number = (value: number): void => {
    out.fixed(value, wanted.precision)
    out.text(delimiter)
  }
  if (wanted.stochastic) number(known.stochastic)
  if (wanted.time) number(known.time)
  if (wanted.sum) number(known.sum)
  if (wanted.minimum) number(known.minimum)
  if (wanted.minimumTime) out.text(stamp(report, known.minimumTime) + delimiter)
  if (wanted.maximum) number(known.maximum)
  if (wanted.maximumTime) out.text(stamp(report, known.maximumTime) + delimiter)
  if (wanted.count) out.text(`${known.count}${delimiter}`)
  if (bins !== undefined) writeBins(report, bins, slot)
  out.text(units)
  out.byte(0x0a)
}

function writeBins({ out, wanted }: Report, bins: MetricBins, slot: number): void {
  for (const { limit, count } of bins.of(slot)) {
    out.text('[')
    if (limit !== undefined) {
      out.text('<=')
      out.fixed(limit, wanted.precision)
    }
    out.text(`]${wanted.delimiter}${count}${wanted.delimiter}`)
  }
}

function stamp({ archive, zone, withDate }: Report, nanos: number): string {
  const sec = Math.floor(nanos / 1e9)
  const time = addTimes(archive.start, { sec, nsec: nanos - sec * 1e9 })
  return withDate ? `'${dateStamp(time, zone)}'` : clockStamp(time, zone)
}

/** Returns the units; counters are rates, unless a sum is requested. */
function unitsText({ wanted }: Report, { summary: { desc } }: ReportedMetric): string {
  if (desc.sem !== PM_SEM_COUNTER || wanted.sum) return unitsStr(desc.units) || 'none'
  const units = unpackUnits(desc.units)
  const scaleTime = units.dimTime === 0 ? PM_TIME_SEC : units.scaleTime
  return unitsStr(packUnits({ ...units, dimTime: units.dimTime - 1, scaleTime })) || 'none'
}

/** Latest names of all instances, loaded once per domain. */
export class InstanceNames {
  readonly #archive: Archive
  readonly #names = new Map<Indom, ReadonlyMap<number, string>>()

  constructor(archive: Archive) {
    this.#archive = archive
  }

  /** Returns the name of an instance, if known. */
  of(indom: Indom, inst: number): string | undefined {
    let names = this.#names.get(indom)
    if (names === undefined) {
      names = this.#collect(indom)
      this.#names.set(indom, names)
    }
    return names.get(inst)
  }

  #collect(indom: Indom): Map<number, string> {
    const names = new Map<number, string>()
    for (const snapshot of this.#archive.metadata.snapshots(indom))
      for (let i = 0; i < snapshot.ids.length; i++) names.set(snapshot.ids[i]!, snapshot.name(i))
    return names
  }
}

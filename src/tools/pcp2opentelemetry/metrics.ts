/** Samples of a report as metrics of OpenTelemetry: labels and help texts, and since when counters count. */

import type { Timestamp } from '../../base/timestamp.ts'
import { PcpError } from '../../model/errors.ts'
import type { Indom } from '../../model/ids.ts'
import { mergeLabelSets } from '../../model/label-set.ts'
import type { Label } from '../../model/labels.ts'
import {
  type OtlpForm,
  type OtlpInput,
  type OtlpRequest,
  type OtlpValue,
  otlpRequest,
} from '../../model/otlp.ts'
import { PM_SEM_COUNTER, PM_SEM_INSTANT } from '../../model/types.ts'
import type { ValueColumns } from '../../model/value-columns.ts'
import { compareTimes } from '../../time/arithmetic.ts'
import type { ReportMetric } from '../lib/report/metrics.ts'
import type { ReportPlan, Sample } from '../lib/report/report.ts'

/** What does not change between samples. */
interface Description {
  readonly help: string
  readonly labels: readonly Label[]
}

/** The last value of a counter. */
interface Counted {
  readonly start: Timestamp
  readonly time: Timestamp
  readonly value: number | bigint
}

/** Converts samples. */
export class OtlpSamples {
  readonly #plan: ReportPlan
  readonly #form: OtlpForm
  readonly #descriptions = new Map<string, Description>()
  readonly #instances = new Map<Indom, ReadonlyMap<number, readonly Label[]>>()
  #context: readonly Label[] | undefined
  /** Counters of the last sample, by metric and instance. */
  #counted: ReadonlyMap<string, ReadonlyMap<number, Counted>> = new Map()

  constructor(plan: ReportPlan, form: OtlpForm) {
    this.#plan = plan
    this.#form = form
  }

  /** Returns a sample as a request; undefined without numbers. */
  async request({ time, values }: Sample): Promise<OtlpRequest | undefined> {
    const { context, metrics } = this.#plan
    this.#context ??= mergeLabelSets(await absentIfUnsupported([], () => context.contextLabels())).labels
    const counted = new Map<string, ReadonlyMap<number, Counted>>()
    const inputs: OtlpInput[] = []
    for (const [i, metric] of metrics.entries()) {
      const points = await this.#values(metric, values[i]!, time, counted)
      if (points.length === 0) continue
      const { desc, units } = metric
      const { isRate, type, units: word } = units.conversion
      const sem = isRate ? PM_SEM_INSTANT : desc.sem
      inputs.push({
        ...(await this.#describe(metric)),
        name: metric.name,
        desc: { ...desc, sem, type, units: word },
        values: points,
      })
    }
    this.#counted = counted
    return inputs.length === 0 ? undefined : otlpRequest(this.#context, time, inputs, this.#form)
  }

  async #values(
    metric: ReportMetric,
    cells: ValueColumns,
    time: Timestamp,
    counted: Map<string, ReadonlyMap<number, Counted>>,
  ): Promise<readonly OtlpValue[]> {
    const { desc, hasInstances, units } = metric
    const isCounter = desc.sem === PM_SEM_COUNTER && !units.conversion.isRate
    const before = this.#counted.get(metric.name)
    const now = new Map<number, Counted>()
    const all: OtlpValue[] = []
    const insts = cells.valueIndices().map((k) => cells.insts[k]!)
    const labels = hasInstances ? await this.#instanceLabels(desc.indom, insts) : undefined
    for (const k of cells.valueIndices()) {
      const value = cells.at(k)
      if (value === undefined || typeof value === 'string') continue
      const inst = cells.insts[k]!
      if (isCounter) now.set(inst, counterOf(before?.get(inst), time, value))
      const name = hasInstances ? this.#plan.nameOf(metric, inst) : undefined
      all.push({ inst, name, labels: labels?.get(inst) ?? [], value, start: now.get(inst)?.start })
    }
    counted.set(metric.name, now)
    return all
  }

  async #describe({ name, desc: { pmid } }: ReportMetric): Promise<Description> {
    const known = this.#descriptions.get(name)
    if (known !== undefined) return known
    const { context } = this.#plan
    const description = {
      help: await absentIfUnsupported('', () => context.text(pmid, { level: 'oneline' })),
      labels: mergeLabelSets(await absentIfUnsupported([], () => context.labelsFor(pmid))).labels,
    }
    this.#descriptions.set(name, description)
    return description
  }

  /** Returns the labels of instances, requested again when there are new ones. */
  async #instanceLabels(
    indom: Indom,
    insts: readonly number[],
  ): Promise<ReadonlyMap<number, readonly Label[]>> {
    const known = this.#instances.get(indom)
    if (known !== undefined && insts.every((inst) => known.has(inst))) return known
    const sets = await absentIfUnsupported([], () => this.#plan.context.instancesLabels(indom))
    const labels = new Map<number, readonly Label[]>(insts.map((inst) => [inst, []]))
    for (const set of sets) labels.set(set.inst, set.labels)
    this.#instances.set(indom, labels)
    return labels
  }
}

/** Continues a counter, or starts it anew after a reset, when its start is that of the sample before. */
function counterOf(before: Counted | undefined, time: Timestamp, value: number | bigint): Counted {
  if (before === undefined || compareTimes(time, before.time) <= 0) return { start: time, time, value }
  return { start: value < before.value ? before.time : before.start, time, value }
}

async function absentIfUnsupported<T>(absent: T, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof PcpError) return absent // older sources have no labels, and some metrics no text
    throw error
  }
}

/** pmrep's report as JSON lines. pmrep(1) --json, which PCP's does not have. */
import type { Timestamp } from '../../base/timestamp.ts'
import { PM_TYPE_FLOAT } from '../../model/types.ts'
import { labelText } from '../lib/report/label-texts.ts'
import type { Reporter, Sample } from '../lib/report/report.ts'
import type { Cell } from '../lib/report/values.ts'
import { semanticsName, typeName } from '../lib/report/words.ts'
import type { Layout } from './layout.ts'

/** Prints a line with metadata, unless headings are switched off, and a line for each sample. */
export class JsonLinesReporter implements Reporter {
  readonly #layout: Layout

  constructor(layout: Layout) {
    this.#layout = layout
  }

  begin(): void {
    const { plan, write, labels } = this.#layout
    if (!plan.settings.header) return
    const metrics = plan.metrics.map(({ name, desc, units }) => [
      name,
      {
        type: typeName(desc),
        semantics: semanticsName(desc),
        units: units.text,
        ...(labels.has(name) ? { labels: JSON.parse(labelText(labels.get(name), -1, '"')) } : {}),
      },
    ])
    const { host, archiveName } = plan
    const source = archiveName === undefined ? { host } : { host, archive: archiveName }
    write(`${JSON.stringify({ ...source, metrics: Object.fromEntries(metrics) })}\n`)
  }

  sample({ time, values }: Sample): void {
    const { plan, write } = this.#layout
    const members: string[] = []
    for (const [i, metric] of plan.metrics.entries()) {
      const cells = values[i]!
      const present: string[] = []
      for (let k = 0; k < cells.size; k++) {
        const text = jsonOf(cells.at(k), metric.units.conversion.type === PM_TYPE_FLOAT)
        if (text === undefined) continue
        present.push(
          metric.hasInstances ? `${JSON.stringify(plan.nameOf(metric, cells.insts[k]!))}:${text}` : text,
        )
      }
      if (present.length === 0) continue
      const value = metric.hasInstances ? `{${present.join(',')}}` : present[0]!
      members.push(`${JSON.stringify(metric.name)}:${value}`)
    }
    write(`{"time":"${isoTime(time)}","values":{${members.join(',')}}}\n`)
  }

  end(): void {}
}

/** Formats a value with all its digits, including 64-bit integers; undefined if JSON cannot represent it. */
function jsonOf(cell: Cell, isFloat: boolean): string | undefined {
  if (cell === undefined) return undefined
  if (typeof cell === 'string') return JSON.stringify(cell)
  if (typeof cell === 'bigint') return String(cell)
  if (!Number.isFinite(cell)) return undefined
  return String(isFloat ? shortest(cell) : cell)
}

/** Returns the shortest decimal for a 32-bit float: 0.09 for 0.09000000357627869. */
function shortest(value: number): number {
  for (let digits = 6; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits))
    if (Math.fround(short) === value) return short
  }
  return value
}

/** Formats a time in UTC, to the nanosecond. */
function isoTime({ sec, nsec }: Timestamp): string {
  const text = new Date(sec * 1000).toISOString().slice(0, 19)
  return `${text}.${String(nsec).padStart(9, '0')}Z`
}

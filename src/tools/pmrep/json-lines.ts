/** pmrep's report for programs: a JSON document a line. pmrep(1) --json; PCP's has nothing like it. */
import type { Timestamp } from '../../base/timestamp.ts'
import { PM_TYPE_FLOAT } from '../../model/types.ts'
import { labelText } from '../lib/report/label-texts.ts'
import type { Reporter, Sample } from '../lib/report/report.ts'
import type { Cell } from '../lib/report/values.ts'
import { semanticsWord, typeWord } from '../lib/report/words.ts'
import type { Layout } from './layout.ts'

/** Prints a line that says what the metrics are, unless headings are not wanted, and a line a sample. */
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
        type: typeWord(desc),
        semantics: semanticsWord(desc),
        units: units.text,
        ...(labels.has(name) ? { labels: JSON.parse(labelText(labels.get(name), -1, '"')) } : {}),
      },
    ])
    const { host, archiveName } = plan
    const source = archiveName === undefined ? { host } : { host, archive: archiveName }
    write(`${JSON.stringify({ ...source, metrics: Object.fromEntries(metrics) })}\n`)
  }

  sample({ time, readings }: Sample): void {
    const { plan, write } = this.#layout
    const members: string[] = []
    for (const [i, metric] of plan.metrics.entries()) {
      const cells = readings[i]!
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

/** A value with all its digits: 64-bit integers, too. Undefined where there is none that JSON knows. */
function jsonOf(cell: Cell, isFloat: boolean): string | undefined {
  if (cell === undefined) return undefined
  if (typeof cell === 'string') return JSON.stringify(cell)
  if (typeof cell === 'bigint') return String(cell)
  if (!Number.isFinite(cell)) return undefined
  return String(isFloat ? shortest(cell) : cell)
}

/** The shortest number that is the same in 32 bits: 0.09 for what is 0.09000000357627869 in 64. */
function shortest(value: number): number {
  for (let digits = 6; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits))
    if (Math.fround(short) === value) return short
  }
  return value
}

/** A moment in UTC, to the nanosecond. */
function isoTime({ sec, nsec }: Timestamp): string {
  const text = new Date(sec * 1000).toISOString().slice(0, 19)
  return `${text}.${String(nsec).padStart(9, '0')}Z`
}

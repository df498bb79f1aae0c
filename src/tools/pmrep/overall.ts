/** Ranks values over all samples. pmrep(1) -2 -3 */
import { formatF } from '../../base/printf.ts'
import type { Reporter, ReportPlan, Sample } from '../lib/report/report.ts'
import { compareCells } from '../lib/report/sample-filter.ts'
import { type Cell, isReal } from '../lib/report/values.ts'

/** The highest value of an instance so far. */
interface Best {
  readonly inst: number
  readonly cell: NonNullable<Cell>
}

/** Minimum width of all columns but the first. */
const LEAST_WIDTH = 3

export class OverallReporter implements Reporter {
  readonly #plan: ReportPlan
  readonly #delimiter: string
  readonly #write: (text: string) => void
  readonly #best: Map<number, Best>[]

  constructor(plan: ReportPlan, write: (text: string) => void) {
    this.#plan = plan
    const { delimiter = '' } = plan.settings
    this.#delimiter = delimiter
    this.#write = write
    this.#best = plan.metrics.map(() => new Map<number, Best>())
  }

  begin(): void {}

  sample({ values }: Sample): void {
    const isLowest = this.#plan.settings.rank < 0
    for (const [i, best] of this.#best.entries()) {
      const cells = values[i]!
      for (let k = 0; k < cells.size; k++) {
        const cell = cells.at(k)
        if (cell === undefined || typeof cell === 'string') continue
        const inst = cells.insts[k]!
        const before = best.get(inst)
        const order = before === undefined ? 1 : compareCells(cell, before.cell)
        if (before === undefined || (isLowest ? order < 0 : order > 0)) best.set(inst, { inst, cell })
      }
    }
  }

  end(): void {
    if (this.#plan.settings.overall_rank_alt) this.#writeSpecs()
    else this.#writeTable()
  }

  #ranked(i: number): readonly Best[] {
    const { rank } = this.#plan.settings
    const all = [...this.#best[i]!.values()]
    all.sort((a, b) => (rank > 0 ? compareCells(b.cell, a.cell) : compareCells(a.cell, b.cell)))
    return all.slice(0, Math.abs(rank))
  }

  #writeSpecs(): void {
    for (const [i, metric] of this.#plan.metrics.entries()) {
      const names = this.#ranked(i).map(({ inst }) => `'${this.#plan.nameOf(metric, inst)}'`)
      if (!metric.hasInstances && names.length > 0) this.#write(`${metric.name},,\n`)
      else if (names.length > 0) this.#write(`${metric.name},,"${names.join(',')}"\n`)
    }
  }

  #writeTable(): void {
    const rows = this.#plan.metrics.flatMap((metric, i) =>
      this.#ranked(i).map(({ inst, cell }) => ({
        name: metric.name,
        instance: this.#plan.nameOf(metric, inst),
        unit: metric.units.text,
        value: isReal(metric) ? formatF(Number(cell), metric.precision) : String(cell),
      })),
    )
    const widest = (key: 'name' | 'instance' | 'unit' | 'value'): number =>
      rows.reduce((width, row) => Math.max(width, row[key].length), 0)
    const name = widest('name')
    const instance = Math.max(LEAST_WIDTH, widest('instance'))
    const unit = Math.max(LEAST_WIDTH, widest('unit'))
    const value = Math.max(LEAST_WIDTH, widest('value'))
    const isBlank = this.#delimiter.trim() === ''
    const between = isBlank ? '   ' : ` ${this.#delimiter} `
    for (const row of rows) {
      const left = [row.name.padEnd(name), row.instance.padEnd(instance), row.unit.padStart(unit)].join(
        between,
      )
      this.#write(`${left}${isBlank ? '    ' : between}${row.value.padStart(value)}\n`)
    }
  }
}

/** /proc/interrupts and /proc/softirqs: a line of CPU names, then `NAME: count count ... text`. proc(5) */
import type { Scanner } from '../../base/scan.ts'
import { InstanceIds } from '../../pmda/instance-ids.ts'

/** One line of counts. */
export interface IrqRow {
  /** First word without its colon: an interrupt number, or letters for what has none. */
  readonly name: string
  /** What stands after the counts, blanks squeezed: controller, trigger and devices. */
  readonly text: string
  /** One count a CPU column; NaN where the line is shorter. */
  readonly counts: Float64Array
}

/** A whole file. */
export interface IrqTable {
  /** The CPU of each column. */
  readonly cpus: readonly number[]
  readonly rows: readonly IrqRow[]
  /** Interrupts that the controller reported as erroneous or missed; undefined where the file has no such line. */
  readonly errors: number | undefined
  readonly missed: number | undefined
}

/** Parses either file; lines that do not end in counts of CPUs go to `errors` and `missed`. */
export function parseIrqTable(scan: Scanner): IrqTable {
  const cpus: number[] = []
  const rows: IrqRow[] = []
  let errors: number | undefined
  let missed: number | undefined
  for (let word = scan.word(); word.startsWith('CPU'); word = scan.word()) cpus.push(Number(word.slice(3)))
  while (scan.nextLine()) {
    const name = scan.word().replace(/[:_]$/, '')
    if (name === '') continue
    if (/^(ERR|Err|BAD)$/.test(name)) errors = countOf(scan)
    else if (name === 'MIS') missed = countOf(scan)
    else {
      const counts = new Float64Array(cpus.length)
      for (let i = 0; i < cpus.length; i++) counts[i] = scan.uint()
      rows.push({ name, text: scan.rest().trim().replace(/\s+/g, ' '), counts })
    }
  }
  return { cpus, rows, errors, missed }
}

function countOf(scan: Scanner): number | undefined {
  const count = scan.uint()
  return Number.isNaN(count) ? undefined : count
}

/** All CPUs' counts of a line; undefined for a line without any. */
export function rowTotal(row: IrqRow): number | undefined {
  let sum: number | undefined
  for (const count of row.counts) if (!Number.isNaN(count)) sum = (sum ?? 0) + count
  return sum
}

/** All lines' counts of a CPU; undefined for a CPU without column. */
export function cpuTotal(table: IrqTable, cpu: number): number | undefined {
  const column = table.cpus.indexOf(cpu)
  if (column < 0) return undefined
  let sum = 0
  for (const row of table.rows) {
    const count = row.counts[column]!
    if (!Number.isNaN(count)) sum += count
  }
  return sum
}

/** A line, or a line's count of one CPU. */
export interface IrqCell {
  readonly row: IrqRow
  /** Position in the line's counts; -1 stands for the whole line. */
  readonly column: number
}

/** Instances of a table: numbers for its lines (`NAME`) or its cells (`NAME::cpuN`), kept while the agent lives. */
export class IrqInstances {
  readonly #ids = new InstanceIds()
  readonly #perCpu: boolean
  #table: IrqTable | undefined
  #names: string[] = []
  #numbers: number[] = []
  #cells = new Map<number, IrqCell>()

  constructor(perCpu: boolean) {
    this.#perCpu = perCpu
  }

  /** Instance numbers and names of the table, in file order. */
  list(table: IrqTable): { ids: readonly number[]; names: readonly string[] } {
    this.#index(table)
    return { ids: this.#numbers, names: this.#names }
  }

  /** What an instance stands for in this table; undefined when the line is gone. */
  cell(table: IrqTable, inst: number): IrqCell | undefined {
    this.#index(table)
    return this.#cells.get(inst)
  }

  #index(table: IrqTable): void {
    if (table === this.#table) return
    this.#table = table
    this.#names = []
    this.#numbers = []
    this.#cells = new Map()
    for (const row of table.rows) {
      if (!this.#perCpu) this.#add(row.name, row, -1)
      else
        for (let column = 0; column < table.cpus.length; column++)
          if (!Number.isNaN(row.counts[column]))
            this.#add(`${row.name}::cpu${table.cpus[column]}`, row, column)
    }
  }

  #add(name: string, row: IrqRow, column: number): void {
    const id = this.#ids.idOf(name)
    if (this.#cells.has(id)) return // a name that stands in the file twice keeps its first line
    this.#names.push(name)
    this.#numbers.push(id)
    this.#cells.set(id, { row, column })
  }
}

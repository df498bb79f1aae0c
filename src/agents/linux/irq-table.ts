/** /proc/interrupts and /proc/softirqs: a line of CPU names, then `NAME: count count ... text`. proc(5) */
import type { Scanner } from '../../base/scan.ts'
import { InstanceIds } from '../lib/instance-ids.ts'

/** One line of counts. */
export interface IrqRow {
  /** First word without its colon: an interrupt number, or letters for interrupts without a number. */
  readonly name: string
  /** The text after the counts, with single spaces: controller, trigger and devices. */
  readonly text: string
  /** One count per CPU column; NaN where the line is shorter. */
  readonly counts: Float64Array
  /** Number of columns with a count. */
  readonly columns: number
  /** First word and text as in the file. */
  readonly raw: { readonly word: string; readonly text: string }
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

/**
 * Parses either file; lines without a count per CPU go to `errors` and `missed`. `last` is the previous table, whose strings
 * are reused.
 */
export function parseIrqTable(scan: Scanner, last?: IrqTable): IrqTable {
  const cpus: number[] = []
  const rows: IrqRow[] = []
  let errors: number | undefined
  let missed: number | undefined
  for (let word = scan.word('CPU0'); word.startsWith('CPU'); word = scan.word(`CPU${cpus.length}`))
    cpus.push(Number(word.slice(3)))
  while (scan.nextLine()) {
    const before = last?.rows[rows.length]
    const word = scan.word(before?.raw.word)
    const name = word === before?.raw.word ? before.name : word.replace(/[:_]$/, '')
    if (name === '') continue
    if (/^(ERR|Err|BAD)$/.test(name)) errors = countOf(scan)
    else if (name === 'MIS') missed = countOf(scan)
    else rows.push(parseRow(scan, word, name, cpus.length, before))
  }
  return { cpus, rows, errors, missed }
}

function parseRow(
  scan: Scanner,
  word: string,
  name: string,
  cpus: number,
  before: IrqRow | undefined,
): IrqRow {
  const counts = new Float64Array(cpus).fill(Number.NaN)
  let columns = 0
  for (; columns < cpus; columns++) {
    const count = scan.uint()
    if (Number.isNaN(count)) break
    counts[columns] = count
  }
  const rest = scan.rest(before?.raw.text)
  if (before !== undefined && word === before.raw.word && rest === before.raw.text)
    return { name, text: before.text, counts, columns, raw: before.raw }
  return { name, text: rest.trim().replace(/\s+/g, ' '), counts, columns, raw: { word, text: rest } }
}

function countOf(scan: Scanner): number | undefined {
  const count = scan.uint()
  return Number.isNaN(count) ? undefined : count
}

/** Sum of a line over all CPUs; undefined for a line without counts. */
export function rowTotal(row: IrqRow): number | undefined {
  let sum: number | undefined
  for (const count of row.counts) if (!Number.isNaN(count)) sum = (sum ?? 0) + count
  return sum
}

/** Sum of a CPU over all lines; undefined for a CPU without a column. */
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

/** A line, or its count for one CPU. */
export interface IrqCell {
  readonly row: IrqRow
  /** Index of the count; -1 for the whole line. */
  readonly column: number
}

/** Instances of a table: stable identifiers for its lines (`NAME`) or counts (`NAME::cpuN`). */
export class IrqInstances {
  readonly #ids = new InstanceIds()
  readonly #perCpu: boolean
  #table: IrqTable | undefined
  #names: string[] = []
  #numbers: number[] = []
  /** Line and column of each instance. */
  #places = new Map<number, { readonly line: number; readonly column: number }>()

  constructor(perCpu: boolean) {
    this.#perCpu = perCpu
  }

  /** Returns the instances of the table in file order. */
  list(table: IrqTable): { ids: readonly number[]; names: readonly string[] } {
    this.#index(table)
    return { ids: this.#numbers, names: this.#names }
  }

  /** Returns the line and column of an instance; undefined when the line is gone. */
  cell(table: IrqTable, inst: number): IrqCell | undefined {
    this.#index(table)
    const place = this.#places.get(inst)
    return place === undefined ? undefined : { row: table.rows[place.line]!, column: place.column }
  }

  #index(table: IrqTable): void {
    const last = this.#table
    if (table === last) return
    this.#table = table
    if (last !== undefined && hasSameShape(table, last)) return
    this.#names = []
    this.#numbers = []
    this.#places = new Map()
    for (const [line, row] of table.rows.entries()) {
      if (!this.#perCpu) this.#add(row.name, line, -1)
      else
        for (let column = 0; column < row.columns; column++)
          this.#add(`${row.name}::cpu${table.cpus[column]}`, line, column)
    }
  }

  #add(name: string, line: number, column: number): void {
    const id = this.#ids.idOf(name)
    if (this.#places.has(id)) return // a repeated name keeps its first line
    this.#names.push(name)
    this.#numbers.push(id)
    this.#places.set(id, { line, column })
  }
}

/** Whether two tables have the same lines and columns. */
function hasSameShape(a: IrqTable, b: IrqTable): boolean {
  if (a.rows.length !== b.rows.length || a.cpus.length !== b.cpus.length) return false
  for (let i = 0; i < a.cpus.length; i++) if (a.cpus[i] !== b.cpus[i]) return false
  for (let i = 0; i < a.rows.length; i++) {
    const [row, other] = [a.rows[i]!, b.rows[i]!]
    if (row.name !== other.name || row.columns !== other.columns) return false
  }
  return true
}

/** /proc/meminfo: `Name:  number [kB]`, one a line. proc(5) */
import type { Scanner } from '../../base/scan.ts'

/** Values of /proc/meminfo by position in `fields`; NaN where the kernel gives none. Filled anew by each reading. */
export interface Meminfo {
  readonly fields: readonly string[]
  readonly values: Float64Array
  /** Which field stood on each line last time: kernels do not reorder lines while they run. */
  readonly layout: { keyword: string; slot: number }[]
}

/** An empty table of these fields for `parseMeminfo` to fill. */
export function newMeminfo(fields: readonly string[]): Meminfo {
  return { fields, values: new Float64Array(fields.length), layout: [] }
}

/** Fills the table and returns it. Sizes are as in the file: Kbyte, counts of huge pages apart. */
export function parseMeminfo(scan: Scanner, table: Meminfo): Meminfo {
  const { fields, values, layout } = table
  values.fill(Number.NaN)
  for (let line = 0; !scan.atEnd; line++) {
    let known = layout[line]
    if (known === undefined || !scan.accept(known.keyword)) {
      const name = scan.until(':')
      known = { keyword: `${name}:`, slot: fields.indexOf(name) }
      layout[line] = known
    }
    if (known.slot >= 0) values[known.slot] = scan.uint()
    scan.nextLine()
  }
  return table
}

/** The value of one field; NaN when the kernel has none. The name must be one of the table's. */
export function memField(table: Meminfo, field: string): number {
  return table.values[table.fields.indexOf(field)] ?? Number.NaN
}

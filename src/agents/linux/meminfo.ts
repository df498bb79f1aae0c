/** Parses /proc/meminfo, lines `Name:  number [kB]`. proc(5) */
import type { Scanner } from '../../base/scan.ts'

/** Values of /proc/meminfo by position in `fields`; NaN for missing fields. Overwritten by each reading. */
export interface Meminfo {
  readonly fields: readonly string[]
  readonly values: Float64Array
  /** Field of each line in the last reading: the order of lines does not change. */
  readonly layout: { keyword: string; slot: number }[]
}

/** An empty table of these fields for `parseMeminfo` to fill. */
export function newMeminfo(fields: readonly string[]): Meminfo {
  return { fields, values: new Float64Array(fields.length), layout: [] }
}

/** Fills the table and returns it. Values are as in the file: Kbyte, except counts of huge pages. */
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

/** Returns the value of a field, which must be one of the table's; NaN if the kernel does not have it. */
export function memField(table: Meminfo, field: string): number {
  return table.values[table.fields.indexOf(field)] ?? Number.NaN
}

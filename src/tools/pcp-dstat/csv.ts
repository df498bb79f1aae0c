/** Writes dstat's values as comma-separated lines. pcp-dstat(1) -o */
import { formatF } from '../../base/printf.ts'
import type { Cell } from '../lib/report/values.ts'
import { isTime, type LinePart, type SampleRow, timeTitle } from './lines.ts'

/** Data of the header lines. */
export interface CsvHeading {
  /** PCP's version, by which readers identify these files. */
  readonly version: string
  readonly host: string
  readonly user: string
  readonly command: string
  readonly date: string
  /** The file did not exist before. */
  readonly isNew: boolean
}

/** Returns the lines above the values, also when appending. Readers expect PCP's exact text. */
export function csvHeading(
  { version, host, user, command, date, isNew }: CsvHeading,
  parts: readonly LinePart[],
): string {
  const titles = parts.flatMap((part) => {
    if (isTime(part)) return [`"${timeTitle(part)}"`]
    return part.csvTitles.map(([title, columns]) => `"${title}"${','.repeat(Math.max(0, columns - 1))}`)
  })
  const columns = parts.flatMap((part) =>
    isTime(part)
      ? [`"${part.name}"`]
      : part.headings().flatMap((group) => group.columns.map(({ csv }) => `"${csv}"`)),
  )
  const beginning = [
    `"pcp-dstat ${version} CSV Output"`,
    '"Author:","PCP team <pcp@groups.io> and Dag Wieers <dag@wieers.com>",,,,"URL:","https://pcp.io/ and http://dag.wieers.com/home-made/dstat/"',
  ]
  return [
    ...(isNew ? beginning : ['', '']),
    `"Host:","${host}",,,,"User:","${user}"`,
    `"Cmdline:","${command}",,,,"Date:","${date}"`,
    titles.join(','),
    columns.join(','),
    '',
  ].join('\n')
}

/** Formats the values of a sample, followed by a note; '' without values. */
export function csvLine(row: SampleRow, note?: string): string {
  let hasValues = false
  const cells = row.flatMap((each) => {
    if ('stamp' in each) {
      hasValues = true
      return [each.stamp]
    }
    const exact = each.groups.flat().map((cell) => cell.exact)
    const isEmpty = exact.every((cell) => cell === undefined)
    if (!isEmpty) hasValues = true
    return isEmpty && each.part.isFolded && exact.length > 0 ? [''] : exact.map(csvCell)
  })
  if (note !== undefined) cells.push(`"${note}"`)
  return hasValues ? `${cells.join(',')}\n` : ''
}

function csvCell(cell: Cell): string {
  if (cell === undefined) return ''
  if (typeof cell === 'string') return `"${cell}"`
  const value = Number(cell)
  return Number.isInteger(value) ? String(cell) : formatF(value, 3)
}

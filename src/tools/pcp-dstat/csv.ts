/** dstat's values as a file of comma-separated lines. pcp-dstat(1) -o */
import { formatF } from '../../base/printf.ts'
import type { Cell } from '../lib/report/values.ts'
import { isTime, type LinePart, type SampleRow, timeTitle } from './lines.ts'

/** What the first lines say. */
export interface CsvHeading {
  /** Of PCP: readers of these files know them by it. */
  readonly version: string
  readonly host: string
  readonly user: string
  readonly command: string
  readonly date: string
  /** The file was not there before. */
  readonly isNew: boolean
}

/** Lines above the values, also where a file goes on: readers of PCP's files expect them word for word. */
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

/** The values of a sample, with a note behind them; '' where there is not one. */
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

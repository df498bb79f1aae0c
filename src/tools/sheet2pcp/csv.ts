/** Comma-separated values. RFC 4180 */

/** Parses rows of cells. A quoted cell may contain commas, newlines and doubled quotes; empty lines are skipped. */
export function parseCsv(text: string): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  let at = text.startsWith('\ufeff') ? 1 : 0
  const endRow = (): void => {
    if (row.length > 1 || row[0] !== '') rows.push(row)
    row = []
  }
  for (;;) {
    let cell = ''
    if (text[at] === '"') {
      for (at++; at < text.length; at++) {
        if (text[at] !== '"') cell += text[at]
        else if (text[at + 1] === '"') {
          cell += '"'
          at++
        } else break
      }
      at++
    }
    const start = at
    while (at < text.length && text[at] !== ',' && text[at] !== '\n') at++
    row.push(cell + text.slice(start, at).replace(/\r$/, ''))
    if (text[at] === ',') {
      at++
      continue
    }
    endRow()
    at++
    if (at >= text.length) return rows
  }
}

/** Reads the first sheet of a spreadsheet as rows of cells. docs/decisions/spreadsheets.md */
import { unzipSync } from 'fflate'
import { decodeText } from '../../base/text.ts'
import { PcpError } from '../../model/errors.ts'
import { parseXml } from './xml.ts'

/** A cell's text, and its date if it has one. */
export interface Cell {
  readonly text: string
  /** Year, month, day, hour, minute, second as shown, stored as UTC. */
  readonly date?: Date
}

/** Rows of cells, including empty cells in between. */
export type Rows = readonly (readonly Cell[])[]

const EMPTY: Cell = { text: '' }
const DAY_MS = 86_400_000
/** Limit of repeated empty rows and cells, which may have a huge count at the end of a sheet. */
const MAX_REPEATED = 10_000
/** Largest part of a spreadsheet to unpack, in bytes. */
const MAX_PART = 1 << 30

/** Reads an Office Open XML sheet. Throws PM_ERR_GENERIC for other files. */
export function readXlsx(bytes: Uint8Array): Rows {
  const parts = unzip(bytes, (name) => name.startsWith('xl/') && name.endsWith('.xml'))
  const sheet = firstSheet(parts)
  const shared = parts.get('xl/sharedStrings.xml')
  const strings = shared === undefined ? [] : sharedStrings(shared)
  const epoch = /date1904="(?:1|true)"/.test(parts.get('xl/workbook.xml') ?? '')
    ? Date.UTC(1904, 0, 1)
    : Date.UTC(1899, 11, 30)
  const rows: Cell[][] = []
  let row: Cell[] = []
  let column = 0
  let type = ''
  let text = ''
  let isValue = false
  parseXml(sheet, (event) => {
    if (event.type === 'text') {
      if (isValue) text += event.text
    } else if (event.type === 'open') {
      if (event.name === 'row') {
        const number = Number(event.attributes.get('r') ?? rows.length + 1)
        while (rows.length < number - 1 && rows.length < MAX_REPEATED * 100) rows.push([])
        row = []
      } else if (event.name === 'c') {
        const reference = event.attributes.get('r')
        column = reference === undefined ? row.length : columnOf(reference)
        type = event.attributes.get('t') ?? 'n'
        text = ''
      } else if (event.name === 'v' || event.name === 't') isValue = true
    } else if (event.type === 'close') {
      if (event.name === 'v' || event.name === 't') isValue = false
      else if (event.name === 'row') rows.push(row)
      else if (event.name === 'c') {
        while (row.length < column && row.length < MAX_REPEATED) row.push(EMPTY)
        if (type === 's') row.push({ text: strings[Number(text)] ?? '' })
        else if (type === 'n' && text !== '') {
          // The map's column decides whether a number is a date, because number formats are too varied.
          row.push({ text, date: new Date(Math.round(epoch + Number(text) * DAY_MS)) })
        } else row.push({ text })
      }
    }
  })
  return rows
}

/** Returns the part of the workbook's first sheet. */
function firstSheet(parts: ReadonlyMap<string, string>): string {
  const names = [...parts.keys()].filter((name) => /^xl\/worksheets\/[^/]+\.xml$/.test(name))
  names.sort((a, b) => Number(/\d+/.exec(a)?.[0] ?? 0) - Number(/\d+/.exec(b)?.[0] ?? 0))
  const sheet = names[0] === undefined ? undefined : parts.get(names[0])
  if (sheet === undefined) throw new PcpError('PM_ERR_GENERIC', 'The file has no sheet')
  return sheet
}

function sharedStrings(xml: string): string[] {
  const strings: string[] = []
  let isText = false
  let isPhonetic = false
  parseXml(xml, (event) => {
    if (event.type === 'text') {
      if (isText && !isPhonetic) strings[strings.length - 1] += event.text
    } else if (event.type === 'open') {
      if (event.name === 'si') strings.push('')
      else if (event.name === 't') isText = true
      else if (event.name === 'rPh') isPhonetic = true
    } else if (event.type === 'close') {
      if (event.name === 't') isText = false
      else if (event.name === 'rPh') isPhonetic = false
    }
  })
  return strings
}

/** Returns the column of a reference such as `C12`, from 0. */
function columnOf(reference: string): number {
  let column = 0
  for (const char of /^[A-Z]*/.exec(reference)![0]) column = column * 26 + char.charCodeAt(0) - 64
  return Math.max(0, column - 1)
}

/** Reads a sheet of OpenDocument or of OpenOffice 1. Throws PM_ERR_GENERIC for other files. */
export function readOpenDocument(bytes: Uint8Array): Rows {
  const content = unzip(bytes, (name) => name === 'content.xml').get('content.xml')
  if (content === undefined) throw new PcpError('PM_ERR_GENERIC', 'The file has no content')
  const reader = new OpenDocumentReader()
  parseXml(content, (event) => {
    if (event.type === 'text') reader.text(event.text)
    else if (event.type === 'open') reader.open(event.name, event.attributes)
    else if (event.type === 'close') reader.close(event.name)
  })
  return reader.rows
}

class OpenDocumentReader {
  readonly rows: Cell[][] = []
  #table = 0
  #row: Cell[] = []
  #repeatRow = 1
  #repeatCell = 1
  #cell: ReadonlyMap<string, string> = new Map()
  #text: string | undefined
  #paragraphs = 0
  #depth = 0

  open(name: string, attributes: ReadonlyMap<string, string>): void {
    if (name === 'table:table') this.#table++
    else if (name === 'table:table-row') {
      this.#row = []
      this.#repeatRow = Number(attributes.get('table:number-rows-repeated') ?? 1)
    } else if (name === 'table:table-cell' || name === 'table:covered-table-cell') {
      this.#cell = attributes
      this.#repeatCell = Number(attributes.get('table:number-columns-repeated') ?? 1)
      this.#text = ''
      this.#paragraphs = 0
    } else if (name === 'text:p') {
      if (this.#paragraphs++ > 0) this.text('\n')
      this.#depth++
    } else if (name === 'text:s') this.text(' '.repeat(Math.min(80, Number(attributes.get('text:c') ?? 1))))
  }

  text(text: string): void {
    if (this.#depth > 0 && this.#text !== undefined) this.#text += text
  }

  close(name: string): void {
    if (name === 'text:p') this.#depth--
    else if (name === 'table:table-cell' || name === 'table:covered-table-cell') this.#endCell()
    else if (name === 'table:table-row' && this.#table === 1) {
      while (this.#row.length > 0 && this.#row[this.#row.length - 1] === EMPTY) this.#row.pop()
      const isEmpty = this.#row.length === 0
      const count = isEmpty ? Math.min(this.#repeatRow, MAX_REPEATED) : this.#repeatRow
      for (let i = 0; i < count; i++) this.rows.push(this.#row)
    } else if (name === 'table:table' && this.#table === 1) {
      while (this.rows.length > 0 && this.rows[this.rows.length - 1]!.length === 0) this.rows.pop()
    }
  }

  #endCell(): void {
    const of = (name: string): string | undefined =>
      this.#cell.get(`office:${name}`) ?? this.#cell.get(`table:${name}`)
    const date = of('date-value')
    const value = of('value') ?? of('boolean-value') ?? this.#text ?? ''
    const cell: Cell =
      date !== undefined
        ? { text: this.#text ?? date, date: new Date(`${date.includes('T') ? date : `${date}T00:00:00`}Z`) }
        : value === ''
          ? EMPTY
          : { text: value }
    const count = cell === EMPTY ? Math.min(this.#repeatCell, MAX_REPEATED) : this.#repeatCell
    for (let i = 0; i < count; i++) this.#row.push(cell)
    this.#text = undefined
  }
}

function unzip(bytes: Uint8Array, isWanted: (name: string) => boolean): Map<string, string> {
  try {
    const parts = unzipSync(bytes, {
      filter: ({ name, originalSize }) => isWanted(name) && originalSize <= MAX_PART,
    })
    return new Map(Object.entries(parts).map(([name, content]) => [name, decodeText(content)]))
  } catch (error) {
    throw PcpError.from(error)
  }
}

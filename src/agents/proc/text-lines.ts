/** Parses files of processes with a line per field, such as status: `VmRSS:    4096 kB`. proc(5) */

/** Lines of one layout. */
interface Layout {
  /** For each line the text from the newline before it to the colon. */
  readonly labels: readonly string[]
  readonly places: ReadonlyMap<string, number>
}

/** Most layouts remembered per file: kernel threads and ended processes have other lines. */
const MOST = 8
const BLANK = 0x20
const TAB = 0x09
const ZERO = 0x30

/** Lookups by search before all lines are indexed: a caller that needs more will need most of them. */
const SEARCHES = 2

/**
 * A file whose lines are found by labels such as '\nVmRSS:'. Dozens of metrics of hundreds of processes may be requested:
 * searching for the label each time would then dominate the cost.
 */
export class TextLines {
  readonly #text: string
  readonly #reader: TextLineReader
  #searches = 0
  #index: Index | undefined

  constructor(text: string, reader: TextLineReader) {
    this.#text = text
    this.#reader = reader
  }

  has(label: string): boolean {
    return this.#startOf(label) >= 0
  }

  /** Returns the unsigned number after a label; NaN without the line or a number in it. */
  number(label: string): number {
    const at = this.#startOf(label)
    return at < 0 ? Number.NaN : digitsAt(this.#text, at)
  }

  /** Returns the number in a column (from 0), separated by spaces or tabs; NaN if there is none. */
  column(label: string, column: number): number {
    let at = this.#startOf(label)
    if (at < 0) return Number.NaN
    const text = this.#text
    for (let left = column; left > 0; left--) {
      let code = text.charCodeAt(at)
      while (code > BLANK) code = text.charCodeAt(++at)
      while (code === BLANK || code === TAB) code = text.charCodeAt(++at)
    }
    return digitsAt(text, at)
  }

  /** Returns the trimmed rest of the line; undefined without the line. */
  text(label: string): string | undefined {
    const at = this.#startOf(label)
    if (at < 0) return undefined
    const end = this.#text.indexOf('\n', at)
    return this.#text.slice(at, end < 0 ? this.#text.length : end).trim()
  }

  /** Position after the spaces that follow the label; -1 without the line. */
  #startOf(label: string): number {
    let at = this.#behind(label)
    if (at < 0) return at
    let code = this.#text.charCodeAt(at)
    while (code === BLANK || code === TAB) code = this.#text.charCodeAt(++at)
    return at
  }

  #behind(label: string): number {
    if (this.#index === undefined && this.#searches++ < SEARCHES) {
      const at = this.#text.indexOf(label)
      return at < 0 ? at : at + label.length
    }
    this.#index ??= this.#reader.index(this.#text)
    const place = this.#index.layout.places.get(label)
    return place === undefined ? -1 : this.#index.starts[place]!
  }
}

interface Index {
  readonly layout: Layout
  /** Position after the label of each line. */
  readonly starts: Int32Array
}

/** Creates `TextLines` for texts of one kind of file, whose lines mostly match those of the previous text. */
export class TextLineReader {
  readonly #layouts: Layout[] = []

  /** `text` starts with an added newline. */
  read(text: string): TextLines {
    return new TextLines(text, this)
  }

  index(text: string): Index {
    const layouts = this.#layouts
    for (let i = 0; i < layouts.length; i++) {
      const layout = layouts[i]!
      const starts = startsBy(layout, text)
      if (starts === undefined) continue
      if (i > 0) {
        layouts.splice(i, 1)
        layouts.unshift(layout)
      }
      return { layout, starts }
    }
    const layout = layoutOf(text)
    layouts.unshift(layout)
    if (layouts.length > MOST) layouts.pop()
    return { layout, starts: startsBy(layout, text)! }
  }
}

function layoutOf(text: string): Layout {
  const labels: string[] = []
  const places = new Map<string, number>()
  const lines = text.slice(1).split('\n')
  if (lines.at(-1) === '') lines.pop() // after the last newline
  for (const line of lines) {
    const label = `\n${line.slice(0, line.indexOf(':') + 1)}`
    if (!places.has(label)) places.set(label, labels.length)
    labels.push(label)
  }
  return { labels, places }
}

/** Undefined if the lines do not match. */
function startsBy({ labels }: Layout, text: string): Int32Array | undefined {
  const starts = new Int32Array(labels.length)
  let pos = 0
  for (let i = 0; i < labels.length; i++) {
    const label = labels[i]!
    if (!text.startsWith(label, pos)) return undefined
    pos += label.length
    starts[i] = pos
    const end = text.indexOf('\n', pos)
    pos = end < 0 ? text.length : end
  }
  return pos >= text.length - 1 ? starts : undefined
}

function digitsAt(text: string, start: number): number {
  let value = 0
  let at = start
  for (; at < text.length; at++) {
    const digit = text.charCodeAt(at) - ZERO
    if (digit < 0 || digit > 9) break
    value = value * 10 + digit
  }
  return at === start ? Number.NaN : value
}

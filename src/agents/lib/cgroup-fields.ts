/** Parses control group files with a line per field, such as memory.stat: `rss 4096`. cgroups(7) */

/** Lines of a file: the kernel writes the same fields in the same order for every group of a kind. */
interface Layout {
  /** Field name and space of each line. */
  readonly labels: readonly string[]
  readonly places: ReadonlyMap<string, number>
}

/** Values of one file. */
export interface Fields {
  readonly layout: Layout
  /** In the order of the lines; undefined without a number, and for -1, which means no limit. */
  readonly numbers: readonly (number | bigint | undefined)[]
}

/** Most layouts remembered per file: the root group has a different one. */
const MOST = 8

/**
 * Parses such files. Lines are compared with those of the previous file, so that parsing a field costs a comparison and its
 * digits; searching for each field takes four times as long.
 */
export class FieldReader {
  #layouts: Layout[] = []

  /** Parses `text`, which starts with a newline before the first line. */
  read(text: string): Fields {
    for (const layout of this.#layouts) {
      const numbers = numbersBy(layout, text)
      if (numbers !== undefined) return { layout, numbers }
    }
    if (this.#layouts.length >= MOST) this.#layouts = []
    const layout = layoutOf(text)
    this.#layouts.push(layout)
    return { layout, numbers: numbersBy(layout, text)! }
  }
}

/** Returns the value of a field, exact beyond 2^53. */
export function fieldOf({ layout, numbers }: Fields, name: string): number | bigint | undefined {
  const place = layout.places.get(name)
  return place === undefined ? undefined : numbers[place]
}

/** Parses the number at a position, exact beyond 2^53; undefined if there is none, and for -1, which means no limit. */
export function numberAt(text: string, start: number): number | bigint | undefined {
  let value = 0
  let end = start
  for (; end < text.length; end++) {
    const digit = text.charCodeAt(end) - ZERO
    if (digit < 0 || digit > 9) break
    value = value * 10 + digit
  }
  if (end === start) return undefined
  return value <= Number.MAX_SAFE_INTEGER ? value : BigInt(text.slice(start, end))
}

const ZERO = 0x30
const NEWLINE = 0x0a

function layoutOf(text: string): Layout {
  const labels: string[] = []
  const places = new Map<string, number>()
  for (const line of text.slice(1).split('\n')) {
    const blank = line.indexOf(' ')
    const label = blank < 0 ? line : line.slice(0, blank + 1)
    const name = label.trimEnd()
    if (!places.has(name)) places.set(name, labels.length)
    labels.push(label)
  }
  if (labels.at(-1) === '') labels.pop() // after the last newline
  return { labels, places }
}

/** Undefined if the lines do not match. */
function numbersBy({ labels }: Layout, text: string): (number | bigint | undefined)[] | undefined {
  const numbers: (number | bigint | undefined)[] = []
  let pos = 1
  for (const label of labels) {
    if (!text.startsWith(label, pos)) return undefined
    pos += label.length
    const start = pos
    let value = 0
    let code = 0
    for (; pos < text.length; pos++) {
      code = text.charCodeAt(pos)
      if (code < ZERO || code > ZERO + 9) break
      value = value * 10 + code - ZERO
    }
    if (pos === start) numbers.push(undefined)
    else numbers.push(value <= Number.MAX_SAFE_INTEGER ? value : BigInt(text.slice(start, pos)))
    if (code !== NEWLINE) pos = text.indexOf('\n', pos)
    if (pos < 0) pos = text.length
    pos++
  }
  return pos >= text.length ? numbers : undefined
}

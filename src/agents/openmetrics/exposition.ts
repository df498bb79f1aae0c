/** Text in which applications expose metrics: Prometheus 0.0.4 and OpenMetrics 1.0, line by line. docs/openmetrics.md */

/** What the comments before a run of samples say; it holds for all samples up to the next comment. */
export interface Block {
  readonly help?: string
  readonly type?: string
  readonly unit?: string
  /** Words of a `# PCP` or `# PCP5` comment, that word itself first and without the PMID of the latter. */
  readonly pcp?: readonly string[]
}

/** Names and values of labels. */
export type LabelMap = ReadonlyMap<string, string>

/**
 * Labels by the text between braces: endpoints repeat the same ones in each document. Keeps those of the document before,
 * so that it never has more than two documents have.
 */
export class LabelCache {
  #old = new Map<string, LabelsResult>()
  #young = new Map<string, LabelsResult>()

  /** A new document begins. */
  turn(): void {
    this.#old = this.#young
    this.#young = new Map()
  }

  /** What a text says, the same object as before if it was there in this document or the one before. */
  read(text: string): LabelsResult {
    let result = this.#young.get(text)
    if (result === undefined) {
      result = this.#old.get(text) ?? readLabels(text)
      this.#young.set(text, result)
    }
    return result
  }
}

/** What stands between braces. */
export interface LabelsResult {
  readonly labels: LabelMap
  /** A name of the metric in quotes among its labels, as newer exporters write those that are no plain words. */
  readonly name?: string
  /** Why the text cannot be understood. */
  readonly why?: string
}

/** One line with a value. */
export interface ExposedSample {
  readonly name: string
  /** In order of appearance; undefined for a line without any. Lines with the same text of labels share the object. */
  readonly labels: LabelMap | undefined
  readonly value: string
  /** Milliseconds or seconds since the epoch, as whoever exposes it chose. */
  readonly timestamp: string | undefined
  readonly line: number
  readonly block: Block
}

/** A line that could not be understood. */
export interface LineProblem {
  readonly line: number
  readonly why: string
}

/** Problems that are kept; further ones are only counted. */
const MAX_PROBLEMS = 100
const MAX_LINE = 65_536
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i
const NO_BLOCK: Block = {}

/** Takes documents apart. One reader serves one document, which may come in pieces that end with whole lines. */
export class ExpositionReader {
  readonly samples: ExposedSample[] = []
  readonly problems: LineProblem[] = []
  /** Lines that could not be understood, also those not kept in `problems`. */
  problemCount = 0
  readonly #maxSamples: number
  readonly #cache: LabelCache
  #line = 0
  #block: Block = NO_BLOCK
  #isAmongSamples = false

  /** Samples beyond `maxSamples` are problems. A cache that outlives the reader makes the next document cheaper. */
  constructor(maxSamples: number, cache: LabelCache = new LabelCache()) {
    this.#maxSamples = maxSamples
    this.#cache = cache
    cache.turn()
  }

  /** Reads whole lines. Never throws: what is wrong with a line becomes a problem, and the next line is read. */
  read(text: string): void {
    for (let start = 0; start < text.length; ) {
      const newline = text.indexOf('\n', start)
      const end = newline < 0 ? text.length : newline
      this.#line++
      if (end - start > MAX_LINE) this.#problem(`the line is longer than ${MAX_LINE} characters`)
      else this.#readLine(text.slice(start, end).trim())
      start = end + 1
    }
  }

  /** Adds a problem with a line that was read before. */
  #problem(why: string): void {
    this.problemCount++
    if (this.problems.length < MAX_PROBLEMS) this.problems.push({ line: this.#line, why })
  }

  #readLine(line: string): void {
    if (line === '') return
    if (line.startsWith('#')) {
      if (this.#isAmongSamples) this.#block = NO_BLOCK
      this.#isAmongSamples = false
      this.#readComment(line.split(/\s+/))
      return
    }
    this.#isAmongSamples = true
    if (this.samples.length >= this.#maxSamples) {
      this.#problem(`there are more than ${this.#maxSamples} values`)
      return
    }
    const parsed = parseSample(line, this.#cache)
    if (typeof parsed === 'string') this.#problem(parsed)
    else this.samples.push({ ...parsed, line: this.#line, block: this.#block })
  }

  /** Comments say what follows; which name they give is not looked at, because exporters are careless about it. */
  #readComment([, keyword, ...words]: readonly string[]): void {
    switch (keyword) {
      case 'HELP':
        this.#block = { ...this.#block, help: words.slice(1).join(' ') }
        break
      case 'TYPE':
        this.#block = { ...this.#block, type: words.slice(1).join(' ') }
        break
      case 'UNIT':
        this.#block = { ...this.#block, unit: words.slice(1).join(' ') }
        break
      case 'PCP':
        if (words.length === 0) this.#problem('"# PCP" must be followed by a name, semantics and units')
        else this.#block = { ...this.#block, pcp: [keyword, ...words] }
        break
      case 'PCP5':
        if (words.length < 6)
          this.#problem('"# PCP5" must be followed by a name, PMID, type, domain, semantics and units')
        else this.#block = { ...this.#block, pcp: [keyword, words[0]!, ...words.slice(2)] }
    }
  }
}

type Parsed = Omit<ExposedSample, 'line' | 'block'>

/** A line `name{label="value",...} value [timestamp] [# exemplar]`, or why it is none. */
export function parseSample(line: string, cache: LabelCache = new LabelCache()): Parsed | string {
  const cursor = new Cursor(line)
  let name = cursor.until(/[\s{]/g)
  cursor.skipBlanks()
  let labels: LabelMap | undefined
  if (cursor.isAt('{')) {
    const result = cache.read(cursor.braces())
    if (result.why !== undefined) return result.why
    if (result.name !== undefined) {
      if (name !== '') return `the metric has two names, ${name} and "${result.name}"`
      name = result.name
    }
    labels = result.labels
    cursor.skipBlanks()
  }
  if (name === '') return 'there is no name of a metric'
  const value = cursor.until(/\s/g)
  if (value === '') return `${name} has no value`
  cursor.skipBlanks()
  const timestamp = cursor.isAt('#') ? '' : cursor.until(/\s/g)
  if (timestamp !== '' && !NUMBER.test(timestamp)) return `the time "${timestamp}" is no number`
  cursor.skipBlanks()
  if (!cursor.isAtEnd && !cursor.isAt('#')) return `"${cursor.rest()}" follows the value`
  // What stands after # is an exemplar: PCP has no place for it, and it says nothing about the value.
  return { name, labels, value, timestamp: timestamp === '' ? undefined : timestamp }
}

function readLabels(text: string): LabelsResult {
  const cursor = new Cursor(text)
  const labels = new Map<string, string>()
  const wrong = (why: string): LabelsResult => ({ labels, why })
  let metricName: string | undefined
  cursor.takes('{')
  for (;;) {
    cursor.skipBlanks()
    if (cursor.takes('}')) return metricName === undefined ? { labels } : { labels, name: metricName }
    const isQuoted = cursor.isAt('"')
    const name = isQuoted ? cursor.quoted() : cursor.until(/[\s=,}"]/g)
    if (name === undefined) return wrong('a text in quotes does not end')
    cursor.skipBlanks()
    if (cursor.takes('=')) {
      cursor.skipBlanks()
      const value = cursor.isAt('"') ? cursor.quoted() : undefined
      if (value === undefined) return wrong(`the value of label ${name} is not in quotes`)
      if (name === '') return wrong('a label has no name')
      labels.set(name, value)
    } else if (isQuoted && metricName === undefined) metricName = name
    else return wrong(`label "${name}" has no value`)
    cursor.skipBlanks()
    if (!cursor.takes(',') && !cursor.isAt('}')) return wrong('the labels do not end with "}"')
  }
}

/** Is it what `\s` matches? Nearly all there is are spaces. */
function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09 || (code > 0x7f && /\s/.test(String.fromCharCode(code)))
}

/** A place in a line. */
class Cursor {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#text.length
  }

  isAt(char: string): boolean {
    return this.#text[this.#at] === char
  }

  takes(char: string): boolean {
    if (!this.isAt(char)) return false
    this.#at++
    return true
  }

  skipBlanks(): void {
    while (isBlank(this.#text.charCodeAt(this.#at))) this.#at++
  }

  /** What stands before the first match of a pattern with flag g, or up to the end. */
  until(pattern: RegExp): string {
    pattern.lastIndex = this.#at
    const end = pattern.exec(this.#text)?.index ?? this.#text.length
    const word = this.#text.slice(this.#at, end)
    this.#at = end
    return word
  }

  /** From a brace to the one that ends it, or to the end of the text where none does. */
  braces(): string {
    const pattern = /\{(?:[^"}]|"(?:[^"\\]|\\.)*")*\}/sy
    pattern.lastIndex = this.#at
    const text = pattern.exec(this.#text)?.[0] ?? this.#text.slice(this.#at)
    this.#at += text.length
    return text
  }

  rest(): string {
    return this.#text.slice(this.#at)
  }

  /** A text in quotes, or undefined when it does not end. */
  quoted(): string | undefined {
    let text = ''
    for (this.#at++; this.#at < this.#text.length; this.#at++) {
      const char = this.#text[this.#at]!
      if (char === '"') {
        this.#at++
        return text
      }
      if (char !== '\\') {
        text += char
        continue
      }
      const next = this.#text[++this.#at]
      if (next === undefined) return undefined
      // Other characters need no backslash, so that before them is meant.
      text += next === 'n' ? '\n' : next === '\\' || next === '"' ? next : `\\${next}`
    }
    return undefined
  }
}

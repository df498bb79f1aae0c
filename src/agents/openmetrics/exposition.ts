/** Parses the text formats of exporters line by line: Prometheus 0.0.4 and OpenMetrics 1.0. docs/reference/agents/openmetrics.md */

/** Contents of the comments before a run of samples; valid for all samples up to the next comment. */
export interface MetricComments {
  readonly help?: string
  readonly type?: string
  readonly unit?: string
  /** Words of a `# PCP` or `# PCP5` comment: the keyword first, without the PMID of the latter. */
  readonly pcp?: readonly string[]
}

/** Names and values of labels. */
export type LabelMap = ReadonlyMap<string, string>

/**
 * Parsed labels by their text: endpoints repeat the same labels in each document. Keeps those of the current and the
 * previous document.
 */
export class LabelCache {
  #old = new Map<string, LabelsResult>()
  #young = new Map<string, LabelsResult>()

  /** Starts a new document. */
  startDocument(): void {
    this.#old = this.#young
    this.#young = new Map()
  }

  /** Parses a text, or returns the object parsed for it in this document or the previous one. */
  read(text: string): LabelsResult {
    let result = this.#young.get(text)
    if (result === undefined) {
      result = this.#old.get(text) ?? readLabels(text)
      this.#young.set(text, result)
    }
    return result
  }
}

/** The parsed text between braces. */
export interface LabelsResult {
  readonly labels: LabelMap
  /** Metric name in quotes among the labels, as newer exporters write names with special characters. */
  readonly name?: string
  /** Why the text is invalid. */
  readonly why?: string
}

/** One line with a value. */
export interface ExposedSample {
  readonly name: string
  /** In order of appearance; undefined for a line without labels. Lines with the same label text share the object. */
  readonly labels: LabelMap | undefined
  readonly value: string
  /** Milliseconds or seconds since the epoch, depending on the exporter. */
  readonly timestamp: string | undefined
  readonly line: number
  readonly block: MetricComments
}

/** An invalid line. */
export interface LineProblem {
  readonly line: number
  readonly why: string
}

/** Most problems kept; further ones are only counted. */
const MAX_PROBLEMS = 100
const MAX_LINE = 65_536
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i
const NO_BLOCK: MetricComments = {}

/** Parses documents. A reader serves one document, which may be passed in pieces that end with whole lines. */
export class ExpositionReader {
  readonly samples: ExposedSample[] = []
  readonly problems: LineProblem[] = []
  /** Number of invalid lines, including those not in `problems`. */
  problemCount = 0
  readonly #maxSamples: number
  readonly #cache: LabelCache
  #line = 0
  #block: MetricComments = NO_BLOCK
  #isAmongSamples = false

  /** Samples beyond `maxSamples` are problems. A cache that outlives the reader speeds up the next document. */
  constructor(maxSamples: number, cache: LabelCache = new LabelCache()) {
    this.#maxSamples = maxSamples
    this.#cache = cache
    cache.startDocument()
  }

  /** Reads whole lines. Never throws: an invalid line becomes a problem, and reading continues. */
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

  /** Adds a problem with the current line. */
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

  /** Comments describe the samples that follow; the metric name in them is ignored, as exporters often get it wrong. */
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

/** Parses a line `name{label="value",...} value [timestamp] [# exemplar]`. Returns a message for an invalid one. */
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
  if (timestamp !== '' && !NUMBER.test(timestamp)) return `the time "${timestamp}" is not a number`
  cursor.skipBlanks()
  if (!cursor.isAtEnd && !cursor.isAt('#')) return `"${cursor.rest()}" follows the value`
  // The exemplar after # is ignored: it has no counterpart in PCP and does not change the value.
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

/** As `\s`, with a fast path for spaces. */
function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09 || (code > 0x7f && /\s/.test(String.fromCharCode(code)))
}

/** A position in a line. */
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

  /** Returns the text up to the first match of a pattern with flag g, or to the end. */
  until(pattern: RegExp): string {
    pattern.lastIndex = this.#at
    const end = pattern.exec(this.#text)?.index ?? this.#text.length
    const word = this.#text.slice(this.#at, end)
    this.#at = end
    return word
  }

  /** Returns the text from a brace to its closing brace, or to the end if it is not closed. */
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

  /** A text in quotes; undefined if it is not closed. */
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
      // A backslash before any other character is literal.
      text += next === 'n' ? '\n' : next === '\\' || next === '"' ? next : `\\${next}`
    }
    return undefined
  }
}

/** Parses help sources of PCP's agents, as newhelp does. newhelp(1), docs/formats/help.md §1 */
import { type Outcome, PcpError } from '../model/errors.ts'
import { indom, type Pmid, pmid } from '../model/ids.ts'

/** The texts of a metric or of an instance domain. */
export interface HelpEntry {
  readonly kind: 'metric' | 'indom'
  /** PMID or instance domain. */
  readonly id: number
  /** As written in the source: a metric name, `29.0.1`, `29.2`. */
  readonly name: string
  readonly oneline: string
  /** '' for an entry of one line. */
  readonly help: string
}

/** A mistake in a source. */
export interface HelpProblem {
  readonly line: number
  /** The message, with the name of the entry before it if there is one. */
  readonly text: string
  /** Text at which a line or an entry was cut. */
  readonly after?: string
  /** The worst severity determines newhelp's exit status. */
  readonly severity: 'warning' | 'error'
}

/** Options of `parseHelpSource`. */
export interface HelpSourceOptions {
  /** PMID of a metric, or why it has none. */
  readonly pmidOf: (name: string) => Outcome<Pmid>
  /** Warn about entries without a one-line text or without a long one. */
  readonly warnsOfNull?: boolean
  /** Called for each mistake, in the order of the source. */
  readonly report: (problem: HelpProblem) => void
  /** Called with the name of each accepted entry that has both texts. */
  readonly onEntry?: (name: string) => void
  /** Entries of other sources for the same help file, whose keys are taken. */
  readonly earlier?: readonly HelpEntry[]
}

/** Longest line and longest text of an entry, in characters: limits of PCP's readers. */
const MAX_LINE = 127
const MAX_ENTRY = 1023
/** Highest values of the fields of a number. */
const MAX_FIELDS = { domain: 510, cluster: 4095, item: 1023, serial: 4_194_303 } as const

/**
 * Parses a source with one byte per character: read the file as latin1 to preserve it. Never throws: mistakes are
 * reported, and the entry is left out (an error) or cut (a warning).
 */
export function parseHelpSource(text: string, options: HelpSourceOptions): readonly HelpEntry[] {
  const reader = new SourceReader(options)
  let number = 0
  for (const line of linesOf(text)) reader.line(++number, line)
  return reader.finish(number + 1)
}

/** Splits into lines. A newline at the end does not begin another line. */
function linesOf(text: string): string[] {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}

/** An entry whose lines are being collected. */
interface Draft {
  readonly key: string
  readonly oneline: string
  readonly lines: string[]
}

class SourceReader {
  readonly #options: HelpSourceOptions
  readonly #entries: HelpEntry[] = []
  readonly #taken: Set<number>
  #draft: Draft | undefined

  constructor(options: HelpSourceOptions) {
    this.#options = options
    this.#taken = new Set(options.earlier?.map(keyOf))
  }

  line(number: number, line: string): void {
    let rest = line
    while (rest.length > MAX_LINE) {
      const part = rest.slice(0, MAX_LINE)
      this.#warn(number, 'long line split after ...', part)
      this.#piece(number, part)
      rest = rest.slice(MAX_LINE)
    }
    this.#piece(number, rest)
  }

  finish(number: number): readonly HelpEntry[] {
    this.#end(number)
    return this.#entries
  }

  #piece(number: number, text: string): void {
    if (text.startsWith('#')) return
    if (!text.startsWith('@')) {
      this.#draft?.lines.push(text)
      return
    }
    this.#end(number)
    const [, key = '', oneline = ''] = /^@[ \t]*(\S*)[ \t]*(.*)$/.exec(text) ?? []
    if (key === '') this.#options.report({ line: number, text: 'null entry?', severity: 'error' })
    else this.#draft = { key, oneline, lines: [] }
  }

  /** Completes the entry before this line. */
  #end(number: number): void {
    const draft = this.#draft
    if (draft === undefined) return
    this.#draft = undefined
    const { key, oneline } = draft
    let help = draft.lines.join('\n').replace(/\n+$/, '')
    const room = Math.max(0, MAX_ENTRY - oneline.length)
    if (help.length > room) {
      help = help.slice(0, room)
      this.#warn(number, `${key}: entry truncated after ...`, help.slice(-MAX_LINE))
    }
    const target = this.#targetOf(key)
    if (target instanceof PcpError) {
      this.#abandon(number, `${key}: ${target.text}, entry abandoned`)
      return
    }
    const entry: HelpEntry = { ...target, name: key, oneline, help }
    if (this.#taken.has(keyOf(entry))) {
      this.#abandon(number, `${key}: duplicate key, entry abandoned`)
      return
    }
    this.#taken.add(keyOf(entry))
    if (oneline !== '' && help !== '') this.#options.onEntry?.(key)
    if (this.#options.warnsOfNull === true) {
      if (oneline === '') this.#warn(number, `${key}: warning, null oneline`)
      if (help === '') this.#warn(number, `${key}: warning, null help`)
    }
    this.#entries.push(entry)
  }

  #warn(line: number, text: string, after?: string): void {
    this.#options.report({ line, text, severity: 'warning', ...(after === undefined ? {} : { after }) })
  }

  #abandon(line: number, text: string): void {
    this.#options.report({ line, text, severity: 'error' })
  }

  #targetOf(key: string): Outcome<Pick<HelpEntry, 'kind' | 'id'>> {
    if (/^\d+\.\d+$/.test(key)) {
      const [domain, serial] = fieldsOf(key)
      return domain! <= MAX_FIELDS.domain && serial! <= MAX_FIELDS.serial
        ? { kind: 'indom', id: indom(domain!, serial!) }
        : new PcpError('PM_ERR_INDOM')
    }
    if (/^\d+\.\d+\.\d+$/.test(key)) {
      const [domain, cluster, item] = fieldsOf(key)
      const fits = domain! <= MAX_FIELDS.domain && cluster! <= MAX_FIELDS.cluster && item! <= MAX_FIELDS.item
      return fits ? { kind: 'metric', id: pmid(domain!, cluster!, item!) } : new PcpError('PM_ERR_PMID')
    }
    const id = this.#options.pmidOf(key)
    return id instanceof PcpError ? id : { kind: 'metric', id }
  }
}

function fieldsOf(key: string): readonly number[] {
  return key.split('.').map(Number)
}

/** PMIDs and instance domains share numbers: the top bit, unused by both, distinguishes them. */
function keyOf({ kind, id }: Pick<HelpEntry, 'kind' | 'id'>): number {
  return kind === 'indom' ? id + 2 ** 31 : id
}

/** The text form of a name space. docs/formats/pmns.md §2, §3 */
import { dynamicRoot, PM_ID_NULL, type Pmid, pmid } from '../model/ids.ts'
import { type Group, hang, link, type PmnsReason } from './link.ts'
import type { Pmns } from './tree.ts'

/** Something wrong in a name space file. */
export interface PmnsDiagnostic {
  /** As the text was called, or as a line marker says. */
  readonly file: string
  /** From 1; absent when the error is about the whole name space. */
  readonly line?: number
  /** Where in `source` the offending word starts, from 0. */
  readonly column?: number
  readonly message: string
  readonly reason?: PmnsReason | undefined
  /** The line to show: blanks squeezed, as PCP shows it. */
  readonly source?: string
}

/** How to read a name space. */
export interface ParseOptions {
  /** What to call the text in diagnostics. */
  readonly file?: string
  /** Refuse two names for one PMID; dynamic roots are exempt. */
  readonly unique?: boolean
  /**
   * A text without group `root` is the subtree that its first group names: the non-leaves above it are made. It may also be
   * one name with its PMID and no group at all, as the root of dynamic names is.
   */
  readonly subtree?: boolean
}

/** A name space, or why there is none. */
export interface ParsedPmns {
  /** Absent when there are diagnostics. */
  readonly pmns?: Pmns
  readonly diagnostics: readonly PmnsDiagnostic[]
}

/** PCP reads lines into a buffer of this size, newline included. */
export const LONGEST_LINE = 255
const DOMAIN_MAX = 510
const CLUSTER_MAX = 4095
const ITEM_MAX = 1023

const NEWLINE = 10
const COLON = 58
const ZERO = 48
/** By character code: 1 for digits; 1 for what names consist of, 2 for letters; 1 for blanks but not newline. */
const DIGIT = new Uint8Array(128)
const WORD = new Uint8Array(128)
const BLANK = new Uint8Array(128)
for (let code = 0; code < 128; code++) {
  const char = String.fromCharCode(code)
  DIGIT[code] = /[0-9]/.test(char) ? 1 : 0
  WORD[code] = /[A-Za-z]/.test(char) ? 2 : /[0-9_]/.test(char) ? 1 : 0
  BLANK[code] = /[ \t\r\v\f]/.test(char) ? 1 : 0
}

/** What the grammar waits for. */
type State = 'group' | 'brace' | 'entry' | 'id'

/** Where a word stands. */
interface Place {
  readonly file: string
  readonly line: number
  readonly column: number
  readonly source: string
}

const NAME = /^[A-Za-z][A-Za-z0-9_]*$/
const PATH = /^[A-Za-z][A-Za-z0-9_.]*$/
const ID = /^[0-9*][0-9*:]*$/
const BLANKS = /[ \t\r\v\f]+/g
const MARKER = /^#[ \t]*(\d+)(?:[ \t]+"([^"]*)")?/
/** Nothing but one name, with those above it, and its PMID. */
const LONE_ENTRY = /^((?:\s|#.*\n)*)(?:([A-Za-z][\w.]*)\.)?([A-Za-z]\w*[ \t]+\d[\d \t:*]*?)\s*$/

/**
 * Reads a name space without preprocessing it. Never throws: reading stops at the first syntax error, whose
 * diagnostics are all given; otherwise errors of the name space as a whole are listed.
 */
export function parsePmns(text: string, options: ParseOptions = {}): ParsedPmns {
  const diagnostics: PmnsDiagnostic[] = []
  const file = options.file ?? ''
  const whole = options.subtree === true ? text.replace(LONE_ENTRY, inGroup) : text
  const read = readGroups(whole, file, diagnostics)
  const groups = options.subtree === true ? hang(read) : read
  const wrong = (message: string, reason?: PmnsReason): undefined =>
    void diagnostics.push({ file, message, reason })
  const pmns = diagnostics.length === 0 ? link(groups, options.unique ?? false, wrong) : undefined
  return pmns === undefined || diagnostics.length > 0 ? { diagnostics } : { pmns, diagnostics }
}

/** A lone entry in the group that it belongs to. */
function inGroup(_all: string, before: string, above: string | undefined, entry: string): string {
  return `${before}${above ?? 'root'} { ${entry} }`
}

/** A diagnostic as PCP prints it: one line, the source and a caret when there are some; ends with a newline. */
export function diagnosticText(diagnostic: PmnsDiagnostic): string {
  const { file, line, column, message, source, reason } = diagnostic
  let text = line === undefined ? '' : `[${file}:${line}] `
  text += `Error Parsing ASCII PMNS: ${message}\n`
  if (reason !== undefined) text += '\n' // those messages bring a newline of their own in PCP
  if (source !== undefined) text += `    ${source}\n    ${' '.repeat(column ?? 0)}^\n`
  return text
}

/** Reads the groups up to the first syntax error. */
function readGroups(text: string, mainFile: string, diagnostics: PmnsDiagnostic[]): Group[] {
  const reader = new GroupReader(diagnostics)
  let file = mainFile
  let line = 0
  for (let start = 0; start < text.length && diagnostics.length === 0; ) {
    const next = reader.plainLine(text, start)
    if (next !== -1) {
      line++
      start = next
      continue
    }
    const newline = text.indexOf('\n', start)
    const end = newline === -1 ? text.length : newline
    const raw = text.slice(start, end)
    start = end + 1
    line++
    if (raw.length >= LONGEST_LINE) {
      const source = squeeze(raw.slice(0, LONGEST_LINE))
      diagnostics.push({ file, line, column: 0, message: 'Absurdly long line, cannot recover', source })
    } else if (raw.startsWith('#')) {
      const marker = MARKER.exec(raw)
      if (marker === null) {
        const source = squeeze(raw)
        diagnostics.push({ file, line, column: 0, message: 'Illegal line number control number', source })
      } else {
        line = Number(marker[1]) - 1
        file = marker[2] ?? file
      }
    } else {
      readLine(reader, raw, file, line)
    }
  }
  return reader.groups
}

function readLine(reader: GroupReader, raw: string, file: string, line: number): void {
  const source = squeeze(raw)
  for (let column = 0; column < source.length; ) {
    const blank = source.indexOf(' ', column)
    const end = blank === -1 ? source.length : blank
    if (!reader.word(source.slice(column, end), { file, line, column, source })) return
    column = end + 1
  }
}

/** Leading blanks off, blanks squeezed to one and removed around colons: `a  1 : 2 : 3` is `a 1:2:3`. */
function squeeze(line: string): string {
  let squeezed = line.replace(BLANKS, ' ')
  // Asked first, because nearly no line has them: a tenth of the time of a large file.
  if (squeezed.includes(' :') || squeezed.includes(': ')) squeezed = squeezed.replace(/ ?: ?/g, ':')
  return squeezed.startsWith(' ') ? squeezed.slice(1) : squeezed
}

/** The grammar, fed word by word. */
class GroupReader {
  readonly groups: Group[] = []
  readonly #diagnostics: PmnsDiagnostic[]
  #state: State = 'group'
  /** Where `#field` reads. */
  #at = 0

  constructor(diagnostics: PmnsDiagnostic[]) {
    this.#diagnostics = diagnostics
  }

  /**
   * Takes the line at `start` when it is an entry as canonical files have it: a name, and perhaps a PMID in range.
   * Gives where the next line starts, or -1 when the line has to be read word by word. Most lines of a name space
   * are such entries, and splitting them costs more than everything else.
   */
  plainLine(text: string, start: number): number {
    if (this.#state !== 'entry' && this.#state !== 'id') return -1
    const from = skipBlanks(text, start)
    const to = skipWord(text, from)
    if (WORD[text.charCodeAt(from)] !== 2) return -1
    const name = text.slice(from, to)
    let at = skipBlanks(text, to)
    let id = PM_ID_NULL
    if (text.charCodeAt(at) !== NEWLINE) {
      this.#at = at
      const domain = at === to ? -1 : this.#field(text, COLON, DOMAIN_MAX)
      const cluster = domain < 0 ? -1 : this.#field(text, COLON, CLUSTER_MAX)
      const item = cluster < 0 ? -1 : this.#field(text, -1, ITEM_MAX)
      if (item < 0) return -1
      at = skipBlanks(text, this.#at)
      id = pmid(domain, cluster, item)
    }
    if (text.charCodeAt(at) !== NEWLINE || at - start >= LONGEST_LINE) return -1
    this.#add(name, id)
    this.#state = id === PM_ID_NULL ? 'id' : 'entry'
    return at + 1
  }

  /** Reads digits and, unless -1, the character that must follow them; -1 when that is not what is there. */
  #field(text: string, after: number, max: number): number {
    let value = 0
    let at = this.#at
    for (let code = text.charCodeAt(at); DIGIT[code] === 1; code = text.charCodeAt(++at))
      value = value * 10 + code - ZERO
    if (at === this.#at || value > max) return -1
    if (after !== -1 && text.charCodeAt(at++) !== after) return -1
    this.#at = at
    return value
  }

  /** Takes the next word; false when it is wrong. */
  word(word: string, place: Place): boolean {
    switch (this.#state) {
      case 'group':
        if (!PATH.test(word)) return this.#wrong('Expected NAME or PATH', place)
        this.groups.push({ path: word, names: [], ids: [] })
        this.#state = 'brace'
        return true
      case 'brace':
        if (word !== '{') return this.#wrong('{ expected', place)
        this.#state = 'entry'
        return true
      case 'entry':
        if (word === '}') return this.#close(place)
        if (!NAME.test(word)) return this.#wrong('Expected NAME or }', place)
        this.#name(word)
        return true
      case 'id':
        if (word === '}') return this.#close(place)
        if (ID.test(word)) return this.#id(word, place)
        if (!NAME.test(word)) return this.#wrong('Expected NAME, PMID or }', place)
        this.#name(word)
        return true
    }
  }

  /** An entry whose PMID has not been read. */
  #name(name: string): void {
    this.#add(name, PM_ID_NULL)
    this.#state = 'id'
  }

  #add(name: string, id: Pmid): void {
    const { names, ids } = this.groups.at(-1)!
    names.push(name)
    ids.push(id)
  }

  #id(word: string, place: Place): boolean {
    const id = parseId(word)
    if (typeof id === 'string') {
      this.#wrong(id, place)
      // The same word is also not what the grammar wants; PCP shows the caret line it has just printed.
      return this.#wrong('Expected NAME, PMID or }', { ...place, source: `${' '.repeat(place.column)}^` })
    }
    const { ids } = this.groups.at(-1)!
    ids[ids.length - 1] = id
    this.#state = 'entry'
    return true
  }

  #close(place: Place): boolean {
    const { path, names } = this.groups.at(-1)!
    this.#state = 'group'
    const seen = new Set<string>()
    for (const name of names) {
      if (seen.has(name)) {
        const message = `Duplicate name "${name}" in subtree for "${path}"`
        return this.#wrong(message, { ...place, column: 0, source: message }, 'duplicate-name')
      }
      seen.add(name)
    }
    return true
  }

  #wrong(message: string, place: Place, reason?: PmnsReason): false {
    this.#diagnostics.push({ ...place, message, reason })
    return false
  }
}

function skipBlanks(text: string, from: number): number {
  let at = from
  while (BLANK[text.charCodeAt(at)] === 1) at++
  return at
}

function skipWord(text: string, from: number): number {
  let at = from
  while (WORD[text.charCodeAt(at)]! > 0) at++
  return at
}

/** `1:2:3` (what follows a complete one is ignored, as in PCP), `5:*:*` or `5`; or what is wrong with it. */
function parseId(word: string): Pmid | string {
  const dynamic = /^(\d+)(?::\*:\*)?$/.exec(word)
  if (dynamic !== null) {
    const domain = Number(dynamic[1])
    return domain > DOMAIN_MAX ? 'Illegal domain field in dynamic PMID' : dynamicRoot(domain)
  }
  const fields = /^(\d+):(\d+):(\d+)/.exec(word)
  if (fields === null) return 'Illegal PMID'
  const [domain, cluster, item] = [Number(fields[1]), Number(fields[2]), Number(fields[3])]
  if (domain > DOMAIN_MAX) return 'Illegal domain field in PMID'
  if (cluster > CLUSTER_MAX) return 'Illegal cluster field in PMID'
  if (item > ITEM_MAX) return 'Illegal item field in PMID'
  return pmid(domain, cluster, item)
}

/** Parser for the text form of a name space. docs/formats/pmns.md §2, §3 */
import { dynamicRoot, PM_ID_NULL, type Pmid, pmid } from '../model/ids.ts'
import { addMissingGroups, type Group, link, type PmnsReason } from './link.ts'
import type { Pmns } from './tree.ts'

/** An error in a name space file. */
export interface PmnsDiagnostic {
  /** From the options, or from a line marker. */
  readonly file: string
  /** From 1; missing for errors of the whole name space. */
  readonly line?: number
  /** Offset of the offending word in `source`, from 0. */
  readonly column?: number
  readonly message: string
  readonly reason?: PmnsReason | undefined
  /** The line as PCP prints it, with blanks squeezed. */
  readonly source?: string
}

/** Options of `parsePmns`. */
export interface ParseOptions {
  /** Name of the text in diagnostics. */
  readonly file?: string
  /** Rejects a second name for a PMID, except for dynamic roots. */
  readonly unique?: boolean
  /**
   * Accepts a text without group `root`, as the subtree named by its first group; missing non-leaves above it are added. It may
   * also be a single name with its PMID and without a group, like the root of dynamic names.
   */
  readonly subtree?: boolean
}

/** A name space, or errors. */
export interface ParsedPmns {
  /** Missing if there are diagnostics. */
  readonly pmns?: Pmns
  readonly diagnostics: readonly PmnsDiagnostic[]
}

/** Size of PCP's line buffer, newline included. */
export const LONGEST_LINE = 255
const DOMAIN_MAX = 510
const CLUSTER_MAX = 4095
const ITEM_MAX = 1023

const NEWLINE = 10
const COLON = 58
const ZERO = 48
/** By character code: 1 for digits; 1 for characters of names, 2 for letters; 1 for blanks but not newline. */
const DIGIT = new Uint8Array(128)
const WORD = new Uint8Array(128)
const BLANK = new Uint8Array(128)
for (let code = 0; code < 128; code++) {
  const char = String.fromCharCode(code)
  DIGIT[code] = /[0-9]/.test(char) ? 1 : 0
  WORD[code] = /[A-Za-z]/.test(char) ? 2 : /[0-9_]/.test(char) ? 1 : 0
  BLANK[code] = /[ \t\r\v\f]/.test(char) ? 1 : 0
}

/** What the grammar expects next. */
type State = 'group' | 'brace' | 'entry' | 'id'

/** Position of a word. */
interface SourcePosition {
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
/** A single name, with or without the names above it, and its PMID. */
const LONE_ENTRY = /^((?:\s|#.*\n)*)(?:([A-Za-z][\w.]*)\.)?([A-Za-z]\w*[ \t]+\d[\d \t:*]*?)\s*$/

/**
 * Parses a name space without preprocessing it. Never throws: parsing stops at the first syntax error, with all of its
 * diagnostics; otherwise errors of the name space as a whole are returned.
 */
export function parsePmns(text: string, options: ParseOptions = {}): ParsedPmns {
  const diagnostics: PmnsDiagnostic[] = []
  const file = options.file ?? ''
  const whole = options.subtree === true ? text.replace(LONE_ENTRY, inGroup) : text
  const read = readGroups(whole, file, diagnostics)
  const groups = options.subtree === true ? addMissingGroups(read) : read
  const wrong = (message: string, reason?: PmnsReason): undefined =>
    void diagnostics.push({ file, message, reason })
  const pmns = diagnostics.length === 0 ? link(groups, options.unique ?? false, wrong) : undefined
  return pmns === undefined || diagnostics.length > 0 ? { diagnostics } : { pmns, diagnostics }
}

/** Wraps a lone entry in its group. */
function inGroup(_all: string, before: string, above: string | undefined, entry: string): string {
  return `${before}${above ?? 'root'} { ${entry} }`
}

/** Formats a diagnostic as PCP does: one line, then the source and a caret if available; ends with a newline. */
export function diagnosticText(diagnostic: PmnsDiagnostic): string {
  const { file, line, column, message, source, reason } = diagnostic
  let text = line === undefined ? '' : `[${file}:${line}] `
  text += `Error Parsing ASCII PMNS: ${message}\n`
  if (reason !== undefined) text += '\n' // in PCP these messages contain an additional newline
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

/** Removes leading blanks, squeezes others, and removes them around colons: `a  1 : 2 : 3` becomes `a 1:2:3`. */
function squeeze(line: string): string {
  let squeezed = line.replace(BLANKS, ' ')
  // Tested first, because hardly any line has them: saves a tenth of the time for a large file.
  if (squeezed.includes(' :') || squeezed.includes(': ')) squeezed = squeezed.replace(/ ?: ?/g, ':')
  return squeezed.startsWith(' ') ? squeezed.slice(1) : squeezed
}

/** Parses word by word. */
class GroupReader {
  readonly groups: Group[] = []
  readonly #diagnostics: PmnsDiagnostic[]
  #state: State = 'group'
  /** Position of `#field`. */
  #at = 0

  constructor(diagnostics: PmnsDiagnostic[]) {
    this.#diagnostics = diagnostics
  }

  /**
   * Parses the line at `start` if it is a canonical entry: a name and an optional PMID in range. Returns the offset of the
   * next line, or -1 if the line has to be parsed word by word. Most lines of a name space are such entries, and splitting them
   * into words would dominate the time.
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

  /** Reads digits and, unless it is -1, the character that must follow them; returns -1 if they do not match. */
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

  /** Takes the next word; returns false if it is wrong. */
  word(word: string, place: SourcePosition): boolean {
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

  /** Adds an entry whose PMID follows. */
  #name(name: string): void {
    this.#add(name, PM_ID_NULL)
    this.#state = 'id'
  }

  #add(name: string, id: Pmid): void {
    const { names, ids } = this.groups.at(-1)!
    names.push(name)
    ids.push(id)
  }

  #id(word: string, place: SourcePosition): boolean {
    const id = parseId(word)
    if (typeof id === 'string') {
      this.#wrong(id, place)
      // The word also violates the grammar; PCP then shows the caret line that it has just printed.
      return this.#wrong('Expected NAME, PMID or }', { ...place, source: `${' '.repeat(place.column)}^` })
    }
    const { ids } = this.groups.at(-1)!
    ids[ids.length - 1] = id
    this.#state = 'entry'
    return true
  }

  #close(place: SourcePosition): boolean {
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

  #wrong(message: string, place: SourcePosition, reason?: PmnsReason): false {
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

/** Parses `1:2:3` (text after it is ignored, as in PCP), `5:*:*` or `5`. Returns a message if it is invalid. */
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

/** Parser of dbpmda's commands, one per line. dbpmda(1) */

import { debugNamesOfBits, parseDebug as parseDebugList } from '../../model/debug.ts'
import { type Outcome, PcpError } from '../../model/errors.ts'
import { type Indom, indom, type Pmid, pmid } from '../../model/ids.ts'
import {
  LABEL_CLUSTER,
  LABEL_CONTEXT,
  LABEL_DOMAIN,
  LABEL_INDOM,
  LABEL_INSTANCES,
  LABEL_ITEM,
} from '../../model/labels.ts'
import type { InstanceQuery } from '../../model/source.ts'
import { ATTRIBUTES } from './attributes.ts'
import { type Topic, topicOf } from './help.ts'
import { caretColumn, SyntaxMistake, type Token, tokensOf } from './tokens.ts'

/** How to reach an agent. */
export type AgentAddress =
  | { readonly kind: 'dso'; readonly path: string; readonly entry: string; readonly domain?: number }
  | { readonly kind: 'pipe'; readonly argv: readonly [string, ...string[]] }
  | { readonly kind: 'unix'; readonly path: string }
  | { readonly kind: 'inet' | 'ipv6'; readonly port: number }

/** Debug options to set and to clear. */
export interface DebugChange {
  readonly name: string
  readonly isOn: boolean
}

export type Command =
  | { readonly type: 'usage'; readonly topic: Topic }
  | { readonly type: 'help'; readonly topic: Topic | undefined }
  | { readonly type: 'open'; readonly place: AgentAddress }
  | { readonly type: 'close' | 'quit' | 'status' }
  | { readonly type: 'desc'; readonly id: Pmid }
  | { readonly type: 'fetch'; readonly ids: readonly Pmid[] }
  | { readonly type: 'store'; readonly id: Pmid; readonly value: string }
  | { readonly type: 'instance'; readonly indom: Indom; readonly query: InstanceQuery }
  | { readonly type: 'text'; readonly kind: 'metric' | 'indom'; readonly id: number }
  | { readonly type: 'label'; readonly level: number; readonly id: number | undefined }
  | { readonly type: 'profile'; readonly indom: Indom; readonly change: ProfileChange }
  | { readonly type: 'children' | 'traverse' | 'pmid'; readonly name: string }
  | { readonly type: 'name'; readonly id: Pmid }
  | { readonly type: 'attr'; readonly key: number; readonly value: string }
  | { readonly type: 'getdesc' | 'getiname' | 'timer'; readonly isOn: boolean }
  | { readonly type: 'debug'; readonly changes: readonly DebugChange[] }
  | { readonly type: 'namespace' | 'watch'; readonly file: string }
  | { readonly type: 'wait'; readonly seconds: number }

/** A change of an instance profile. */
export type ProfileChange = 'all' | 'none' | { readonly add: number } | { readonly delete: number }

/** Callbacks of the parser. */
export interface ParseContext {
  /** Returns the PMID of a name in the name space. */
  readonly lookup: (name: string) => Promise<Outcome<Pmid>>
  /** Called for PMIDs without a name. */
  readonly unnamed: (id: Pmid) => void | Promise<void>
  /** Returns whether a PMID has a name. */
  readonly isNamed: (id: Pmid) => boolean
  /** Returns the port of a TCP service. */
  readonly servicePort: (name: string) => number | undefined
}

const SYNTAX = 'syntax error'
const UNRECOGNIZED = 'Unrecognized command'
/** Aliases of commands. */
const ALIASES: Readonly<Record<string, string>> = { '?': 'help', exit: 'quit', q: 'quit', attribute: 'attr' }
/** Commands that are valid without arguments. */
const ALONE: ReadonlySet<string> = new Set(['help', 'close', 'quit', 'status'])
const DEBUG_WORD = /^-?\w+$/

/** Parses a line; undefined for an empty one. Rejects with Mistake. */
export async function parseCommand(line: string, context: ParseContext): Promise<Command | undefined> {
  const tokens = tokensOf(line)
  const [first] = tokens
  if (first === undefined) return undefined
  const words = new Words(line, tokens)
  words.next()
  const name = ALIASES[first.text] ?? first.text
  const topic = topicOf(name)
  if (first.isQuoted || (topic === undefined && !ALONE.has(name))) words.fail(UNRECOGNIZED)
  if (words.isAtEnd && topic !== undefined && !ALONE.has(name)) return { type: 'usage', topic }
  const command = await parse(name, words, context)
  words.end()
  return command
}

function parse(name: string, words: Words, context: ParseContext): Command | Promise<Command> {
  switch (name) {
    case 'help': {
      const word = words.isAtEnd ? undefined : words.word()
      const topic = word === undefined ? undefined : topicOf(word)
      return word !== undefined && topic === undefined ? words.fail(SYNTAX) : { type: 'help', topic }
    }
    case 'close':
    case 'quit':
    case 'status':
      return { type: name }
    case 'open':
      return { type: 'open', place: parsePlace(words, context) }
    case 'desc':
      return metric(words, context).then((id) => ({ type: 'desc', id }))
    case 'fetch':
      return parseFetch(words, context)
    case 'store':
      return parseStore(words, context)
    case 'instance':
      return { type: 'instance', indom: words.indom(), query: instanceQuery(words) }
    case 'text':
      return parseText(words, context)
    case 'label':
      return parseLabel(words, context)
    case 'profile':
      return { type: 'profile', indom: words.indom(), change: profileChange(words) }
    case 'children':
    case 'traverse':
    case 'pmid':
      return { type: name, name: words.word() }
    case 'name':
      return { type: 'name', id: words.pmid() }
    case 'attr':
      return parseAttr(words)
    case 'getdesc':
    case 'getiname':
    case 'timer':
      return { type: name, isOn: words.choice(['on', 'off']) === 'on' }
    case 'debug':
      return { type: 'debug', changes: parseDebug(words) }
    case 'namespace':
    case 'watch':
      return { type: name, file: words.word() }
    default:
      return { type: 'wait', seconds: words.number() }
  }
}

/** The words of a line. */
class Words {
  readonly #line: string
  readonly #tokens: readonly Token[]
  #at = 0

  constructor(line: string, tokens: readonly Token[]) {
    this.#line = line
    this.#tokens = tokens
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#tokens.length
  }

  /** Returns the next word; throws a Mistake at the end. */
  next(): Token {
    const token = this.#tokens[this.#at]
    if (token === undefined) return this.fail(SYNTAX)
    this.#at++
    return token
  }

  /** Returns whether the next word is `text`. */
  isNext(text: string): boolean {
    const token = this.#tokens[this.#at]
    return token?.text === text && !token.isQuoted
  }

  /** Throws a Mistake at the word read last. */
  fail(message: string): never {
    const last = this.#tokens[Math.max(0, this.#at - 1)]
    throw new SyntaxMistake(message, caretColumn(this.#line, last))
  }

  end(): void {
    if (this.isAtEnd) return
    this.next()
    this.fail(SYNTAX)
  }

  /** Returns a word without quotes. */
  word(): string {
    const { text, isQuoted } = this.next()
    return isQuoted ? this.fail(SYNTAX) : text
  }

  quoted(): string {
    const { text, isQuoted } = this.next()
    return isQuoted ? text : this.fail(SYNTAX)
  }

  choice<T extends string>(choices: readonly T[]): T {
    const text = this.word()
    return choices.find((choice) => choice === text) ?? this.fail(SYNTAX)
  }

  number(): number {
    const text = this.word()
    return /^\d{1,10}$/.test(text) ? Number(text) : this.fail(SYNTAX)
  }

  /** Parses `D.C.I`; omitted leading numbers are 0. */
  pmid(): Pmid {
    const fields = this.#fields(3, [510, 4095, 1023])
    while (fields.length < 3) fields.unshift(0)
    return pmid(fields[0]!, fields[1]!, fields[2]!)
  }

  /** Parses `D.S`, or only the serial number. */
  indom(): Indom {
    const fields = this.#fields(2, [510, 4_194_303])
    return fields.length === 2 ? indom(fields[0]!, fields[1]!) : indom(0, fields[0]!)
  }

  /** Parses `D.C`, the identifier of a cluster. */
  cluster(): number {
    const fields = this.#fields(2, [510, 4095])
    return fields.length === 2 ? pmid(fields[0]!, fields[1]!, 0) : this.fail(SYNTAX)
  }

  #fields(most: number, limits: readonly number[]): number[] {
    const text = this.word()
    if (!/^\d{1,7}(\.\d{1,7})*$/.test(text)) this.fail(SYNTAX)
    const fields = text.split('.').map(Number)
    if (fields.length > most) this.fail(SYNTAX)
    const from = limits.length - fields.length
    if (fields.some((field, i) => field > limits[from + i]!)) this.fail('Number out of range')
    return fields
  }
}

/** Parses a metric name or PMID. */
async function metric(words: Words, context: ParseContext): Promise<Pmid> {
  const token = words.next()
  if (token.isQuoted) words.fail(SYNTAX)
  if (/^\d/.test(token.text)) {
    const id = new Words(token.text, [{ ...token, end: token.text.length }])
    let found: Pmid
    try {
      found = id.pmid()
    } catch (error) {
      if (error instanceof SyntaxMistake) words.fail(error.message)
      throw error
    }
    if (!context.isNamed(found)) await context.unnamed(found)
    return found
  }
  const found = await context.lookup(token.text)
  return found instanceof PcpError ? words.fail(found.text) : found
}

function parsePlace(words: Words, { servicePort }: ParseContext): AgentAddress {
  switch (words.choice(['dso', 'pipe', 'socket'])) {
    case 'dso': {
      const place = { kind: 'dso', path: words.next().text, entry: words.word() } as const
      return words.isAtEnd ? place : { ...place, domain: words.number() }
    }
    case 'pipe': {
      const argv: [string, ...string[]] = [words.next().text]
      while (!words.isAtEnd) argv.push(words.next().text)
      return { kind: 'pipe', argv }
    }
    case 'socket': {
      const kind = words.next().text
      if (kind !== 'inet' && kind !== 'ipv6')
        return { kind: 'unix', path: kind === 'unix' && !words.isAtEnd ? words.next().text : kind }
      const text = words.word()
      const port = /^\d+$/.test(text) ? Number(text) : servicePort(text)
      return port === undefined || port > 65_535 ? words.fail(SYNTAX) : { kind, port }
    }
  }
}

async function parseFetch(words: Words, context: ParseContext): Promise<Command> {
  const ids: Pmid[] = []
  while (!words.isAtEnd) ids.push(await metric(words, context))
  return { type: 'fetch', ids }
}

async function parseStore(words: Words, context: ParseContext): Promise<Command> {
  const id = await metric(words, context)
  return { type: 'store', id, value: words.quoted() }
}

/** Parses a query for all instances, for an id's name, or for a name's id. */
function instanceQuery(words: Words): InstanceQuery {
  if (words.isAtEnd) return undefined
  const { text, isQuoted } = words.next()
  return !isQuoted && /^\d+$/.test(text) ? { id: Number(text) } : { name: text }
}

async function parseText(words: Words, context: ParseContext): Promise<Command> {
  const isIndom = words.isNext('indom')
  if (isIndom) words.next()
  return isIndom
    ? { type: 'text', kind: 'indom', id: words.indom() }
    : { type: 'text', kind: 'metric', id: await metric(words, context) }
}

async function parseLabel(words: Words, context: ParseContext): Promise<Command> {
  const level = words.choice(['context', 'domain', 'indom', 'cluster', 'item', 'instances'])
  switch (level) {
    case 'context':
      return { type: 'label', level: LABEL_CONTEXT, id: undefined }
    case 'domain':
      return { type: 'label', level: LABEL_DOMAIN, id: undefined }
    case 'indom':
      return { type: 'label', level: LABEL_INDOM, id: words.indom() }
    case 'cluster':
      return { type: 'label', level: LABEL_CLUSTER, id: words.cluster() }
    case 'item':
      return { type: 'label', level: LABEL_ITEM, id: await metric(words, context) }
    case 'instances':
      return { type: 'label', level: LABEL_INSTANCES, id: words.indom() }
  }
}

function profileChange(words: Words): ProfileChange {
  const word = words.choice(['all', 'none', 'add', 'delete'])
  switch (word) {
    case 'add':
      return { add: words.number() }
    case 'delete':
      return { delete: words.number() }
    default:
      return word
  }
}

function parseAttr(words: Words): Command {
  const { text } = words.next()
  const key = /^\d+$/.test(text) ? Number(text) : ATTRIBUTES.get(text)
  if (key === undefined || ![...ATTRIBUTES.values()].includes(key))
    return words.fail(`Attribute (${text}) is not recognised`)
  return { type: 'attr', key, value: words.isAtEnd ? '' : words.quoted() }
}

function parseDebug(words: Words): readonly DebugChange[] {
  const changes: DebugChange[] = []
  while (!words.isAtEnd) {
    const word = words.word()
    if (!DEBUG_WORD.test(word)) words.fail(SYNTAX)
    const flag = word.replace(/^-/, '')
    const isOn = (word === flag) !== (flag === 'none')
    const name =
      flag === 'none' ? 'all' : /^\d+$/.test(flag) ? [...debugNamesOfBits(Number(flag))].join(',') : flag
    if (parseDebugList(name) === undefined) words.fail(`Bad debug flag (${flag})`)
    changes.push({ name, isOn })
  }
  return changes
}

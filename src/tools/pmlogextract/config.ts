/**
 * Parser of configurations, which select metrics and instances. pmlogextract(1)
 *
 *     metric                          or all metrics below a name
 *     metric [ 3, name, "a name" ]    instances by number or name
 */
import type { Metadata } from '../../archive/metadata.ts'
import type { InstanceSelection } from '../../archive/transfer/record-copy.ts'
import { type ErrorCode, PcpError } from '../../model/errors.ts'
import { PM_INDOM_NULL, type Pmid } from '../../model/ids.ts'

/** A metric or subtree in a configuration. */
export interface Spec {
  readonly name: string
  /** Undefined for all. */
  readonly instances: readonly (number | string)[] | undefined
  /** Line for messages: of the closing bracket, else of the next token. */
  readonly line: number
}

interface Token {
  readonly kind: 'word' | 'number' | 'string' | 'sign' | 'end'
  readonly text: string
  readonly line: number
}

const TOKEN = /([A-Za-z][A-Za-z0-9_.]*)|(\d+)|"([^"\n]*)"|'([^'\n]*)'|([[\],])/y
const SPACE = /(?:[ \t\r\n\f]|#[^\n]*)*/y

/** Parses a configuration. Passes specs to `onSpec` until the first error, then throws PM_ERR_GENERIC with `[line N] reason`. */
export function parseConfig(text: string, onSpec: (spec: Spec) => void): void {
  const tokens = tokensOf(text)
  let token = next(tokens)
  while (token.kind !== 'end') {
    if (token.kind !== 'word') throw mistake(token.line, 'syntax error')
    const name = token.text
    token = next(tokens)
    if (token.text !== '[' || token.kind !== 'sign') {
      onSpec({ name, instances: undefined, line: token.line })
      continue
    }
    const instances: (number | string)[] = []
    for (token = next(tokens); token.text !== ']' || token.kind !== 'sign'; token = next(tokens)) {
      if (token.kind === 'sign' && token.text === ',' && instances.length > 0) continue
      if (token.kind === 'end' || token.kind === 'sign') throw mistake(token.line, 'syntax error')
      instances.push(token.kind === 'number' ? Number(token.text) : token.text)
    }
    if (instances.length === 0) throw mistake(token.line, 'syntax error')
    onSpec({ name, instances, line: token.line })
    token = next(tokens)
  }
}

function next(tokens: Iterator<Token>): Token {
  return tokens.next().value as Token
}

function* tokensOf(text: string): Generator<Token> {
  let at = 0
  let line = 1
  for (;;) {
    SPACE.lastIndex = at
    const space = SPACE.exec(text)![0]
    for (const char of space) if (char === '\n') line++
    at += space.length
    if (at === text.length) break
    TOKEN.lastIndex = at
    const match = TOKEN.exec(text)
    if (match === null) throw mistake(line, `Unexpected character '${text[at]}'`)
    at += match[0].length
    const [, word, number, double, single, sign] = match
    if (word !== undefined) yield { kind: 'word', text: word, line }
    else if (number !== undefined) yield { kind: 'number', text: number, line }
    else if (sign !== undefined) yield { kind: 'sign', text: sign, line }
    else yield { kind: 'string', text: double ?? single!, line }
  }
  for (;;) yield { kind: 'end', text: '', line }
}

function mistake(line: number, what: string): PcpError {
  return new PcpError('PM_ERR_GENERIC', `[line ${line}] ${what}`)
}

/** Selected metrics and instances. */
export class Selection {
  readonly #wanted = new Map<Pmid, 'all' | Set<number>>()
  readonly #metadata: readonly Metadata[]
  readonly #warn: (line: number, text: string) => void

  /** Selects from archives with this metadata; calls `warn` for missing metrics and instances. */
  constructor(metadata: readonly Metadata[], warn: (line: number, text: string) => void) {
    this.#metadata = metadata
    this.#warn = warn
  }

  /** Number of selected metrics. */
  get size(): number {
    return this.#wanted.size
  }

  get metrics(): ReadonlySet<Pmid> {
    return new Set(this.#wanted.keys())
  }

  /** Returns which values of a metric to copy. */
  of(pmid: Pmid): InstanceSelection {
    return this.#wanted.get(pmid) ?? 'nothing'
  }

  /** Adds a spec to the selection. */
  add({ name, instances, line }: Spec): void {
    let problem: ErrorCode = 'PM_ERR_NAME'
    let isFound = false
    const seen = new Set<Pmid>()
    for (const { names } of this.#metadata) {
      const found = names.has(name) ? names.traverse(name) : []
      for (const leaf of found) {
        const pmid = names.idOf(leaf)
        if (pmid === undefined || seen.has(pmid)) continue
        seen.add(pmid)
        isFound = true
        this.#addMetric(leaf, pmid, instances, line)
      }
      if (found.length === 0 && names.has(name)) problem = 'PM_ERR_NONLEAF'
    }
    if (isFound) return
    const reason = new PcpError(problem).text
    this.#warn(line, `Problem with lookup for metric "${name}" ... metric ignored\nReason: ${reason}`)
  }

  #addMetric(name: string, pmid: Pmid, instances: Spec['instances'], line: number): void {
    if (instances === undefined) {
      this.#wanted.set(pmid, 'all')
      return
    }
    const ids = new Set<number>()
    for (const instance of instances) {
      const id = this.#lookup(pmid, instance)
      if (id === undefined) this.#warn(line, `Instance "${instance}" is not defined for the metric "${name}"`)
      else ids.add(id)
    }
    if (ids.size === 0) {
      this.#warn(line, `None of the instances for metric "${name}" are valid, metric not extracted`)
      return
    }
    const known = this.#wanted.get(pmid)
    if (known === undefined) this.#wanted.set(pmid, ids)
    else if (known !== 'all') for (const id of ids) known.add(id)
  }

  #lookup(pmid: Pmid, instance: number | string): number | undefined {
    for (const metadata of this.#metadata) {
      const desc = metadata.descs.get(pmid)
      if (desc === undefined || desc.indom === PM_INDOM_NULL) continue
      const query = typeof instance === 'number' ? { id: instance } : { name: instance }
      try {
        return metadata.instances(desc.indom, query, undefined).ids[0]
      } catch (error) {
        if (!(error instanceof PcpError)) throw error // not in this archive, but maybe in the next
      }
    }
    return undefined
  }
}

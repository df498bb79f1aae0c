/** Parser of configurations: what to log, how often, and access control. docs/reference/pmlogger.md, pmlogger(1) */
import { PcpError } from '../model/errors.ts'
import { ConfigLexer } from '../net/access/lexer.ts'
import { type AccessStatement, type Operations, parseAccess } from '../net/access/statements.ts'
import { ConfigTokens, type SourcePosition, type Token } from './config-tokens.ts'
import { MAX_DELTA_MS } from './sizes.ts'

/** Operation bit: advisory control. */
export const OP_ADVISORY = 1
/** Operation bit: mandatory control, and new volumes. */
export const OP_MANDATORY = 2
/** Operation bit: enquiry. */
export const OP_ENQUIRE = 4

/** Operations in a logger's access rules. */
export const LOGGER_OPERATIONS: Operations = new Map([
  ['advisory', OP_ADVISORY],
  ['mandatory', OP_MANDATORY],
  ['enquire', OP_ENQUIRE],
])

/** A metric, or all metrics below a name, and the requested instances. */
export interface MetricRequest {
  readonly name: string
  /** External names and internal ids; empty for all instances. */
  readonly instances: readonly (string | number)[]
  readonly place: SourcePosition
}

export interface LogStatement {
  readonly control: 'mandatory' | 'advisory'
  readonly state: 'on' | 'off' | 'maybe'
  /** Interval; 0 for `once`, undefined for `default`. */
  readonly deltaMs: number | undefined
  readonly metrics: readonly MetricRequest[]
}

/** A complete configuration. */
export interface LoggerConfig {
  readonly statements: readonly LogStatement[]
  readonly access: readonly AccessStatement[]
}

/** Milliseconds per unit. Names may also end in `s`. */
const UNITS: ReadonlyMap<string, number> = new Map([
  ['msec', 1],
  ['millisecond', 1],
  ['sec', 1000],
  ['second', 1000],
  ['min', 60_000],
  ['minute', 60_000],
  ['hour', 3_600_000],
])

/** Returns the milliseconds of a unit name of configurations and pmlc; undefined for unknown names. */
export function unitMs(word: string): number | undefined {
  return UNITS.get(word) ?? (word.endsWith('s') ? UNITS.get(word.slice(0, -1)) : undefined)
}

/**
 * Parses preprocessed text; lines such as `# 3 "file"` give the source position. Throws PM_ERR_CONV: the message is PCP's two
 * lines, then the source line and a caret below the error.
 */
export function parseLoggerConfig(text: string, file: string): LoggerConfig {
  return new ConfigParser(text, file).parse()
}

class ConfigParser {
  readonly #tokens: ConfigTokens
  readonly #file: string
  #token: Token

  constructor(text: string, file: string) {
    this.#file = file
    this.#tokens = new ConfigTokens(text, file, (message, place) => this.#fail(message, place))
    this.#token = this.#tokens.next()
  }

  parse(): LoggerConfig {
    const statements: LogStatement[] = []
    while (this.#token.kind !== 'end') {
      if (this.#isSign('[')) return { statements, access: this.#access() }
      statements.push(this.#statement())
    }
    return { statements, access: [] }
  }

  #statement(): LogStatement {
    this.#accept('log')
    const isMandatory = this.#accept('mandatory')
    if (!isMandatory) this.#accept('advisory')
    const control = isMandatory ? 'mandatory' : 'advisory'
    if (this.#accept('on'))
      return { control, state: 'on', deltaMs: this.#frequency(), metrics: this.#metrics() }
    if (this.#accept('off')) return { control, state: 'off', deltaMs: 0, metrics: this.#metrics() }
    if (isMandatory && this.#accept('maybe'))
      return { control, state: 'maybe', deltaMs: 0, metrics: this.#metrics() }
    return this.#unexpected()
  }

  /** `once`, `default` or `[every] N unit`. */
  #frequency(): number | undefined {
    if (this.#accept('once')) return 0
    if (this.#accept('default')) return undefined
    this.#accept('every')
    const { kind, text, place } = this.#token
    if (kind !== 'number') return this.#unexpected()
    this.#advance()
    const scale = this.#token.kind === 'word' ? unitMs(this.#token.text) : undefined
    if (scale === undefined) return this.#unexpected()
    this.#advance()
    const deltaMs = Number(text) * scale
    if (deltaMs > MAX_DELTA_MS)
      this.#fail(`Logging delta (${deltaMs} msec) cannot be bigger than ${MAX_DELTA_MS} msec`, place)
    return deltaMs
  }

  #metrics(): MetricRequest[] {
    if (!this.#isSign('{')) return [this.#metric()]
    this.#advance()
    const metrics = [this.#metric()]
    for (;;) {
      if (this.#isSign(',')) this.#advance()
      else if (this.#isSign('}')) break
      metrics.push(this.#metric())
    }
    this.#advance()
    return metrics
  }

  #metric(): MetricRequest {
    const { kind, text, place } = this.#token
    if (kind !== 'word') return this.#unexpected()
    this.#advance()
    // Without braces, the header of the access section looks like a list of instances.
    const hasInstances = this.#isSign('[') && !this.#tokens.isAccessHeader
    return { name: text, instances: hasInstances ? this.#instances() : [], place }
  }

  /** Parses up to the closing bracket; separators are commas, blanks or both. */
  #instances(): (string | number)[] {
    const instances: (string | number)[] = []
    this.#advance()
    do {
      if (this.#isSign(',') && instances.length > 0) this.#advance()
      const { kind, text } = this.#token
      if (kind === 'sign' || kind === 'end') this.#unexpected()
      instances.push(kind === 'number' ? Number(text) : text)
      this.#advance()
    } while (!this.#isSign(']'))
    this.#advance()
    return instances
  }

  #access(): readonly AccessStatement[] {
    const { rest, place } = this.#tokens
    if (!this.#tokens.isAccessHeader) this.#unexpected()
    try {
      return parseAccessRules(rest, place.line)
    } catch (error) {
      const { message } = PcpError.from(error)
      const [, line = place.line, what = message] = /^\[line (\d+)\]: (?:Error: )?(.*)/.exec(message) ?? []
      return this.#fail(what, { ...place, line: Number(line), column: 0 })
    }
  }

  #accept(word: string): boolean {
    if (this.#token.kind !== 'word' || this.#token.text !== word) return false
    this.#advance()
    return true
  }

  #isSign(sign: string): boolean {
    return this.#token.kind === 'sign' && this.#token.text === sign
  }

  #advance(): void {
    this.#token = this.#tokens.next()
  }

  #unexpected(): never {
    return this.#fail('syntax error', this.#token.place)
  }

  #fail(message: string, place: SourcePosition): never {
    const head = `Specification error in configuration file (${this.#file})\n`
    const where = place.file === this.#file ? '' : `${place.file}: `
    const source = this.#tokens.sourceLine(place)
    const pointer = place.column === 0 ? '' : `\n${source}\n${' '.repeat(place.column - 1)}^`
    throw new PcpError('PM_ERR_CONV', `${head}${where}[line ${place.line}] ${message}${pointer}`)
  }
}

/** Parses an access section after its header, starting on the header's line. Throws PM_ERR_CONV with `[line N]: Error: ...`. */
export function parseAccessRules(text: string, firstLine = 1): readonly AccessStatement[] {
  return parseAccess(new ConfigLexer(quoteHosts(text), firstLine), false, LOGGER_OPERATIONS)
}

/** Quotes host names: here they may contain colons (`:*`, `local:*`) and end at a statement's last colon. Other servers require quotes. */
function quoteHosts(text: string): string {
  const quote = (hosts: string): string =>
    hosts.replaceAll(/[^\s,"]+(?=[\s,]|$)/g, (host) => (host.includes(':') ? `"${host}"` : host))
  return text
    .replaceAll(/#.*/g, '')
    .replaceAll(
      /\b((?:dis)?allow\s)([^;]*):([^:;]*;)/g,
      (_, verb: string, hosts: string, operations: string) => `${verb}${quote(hosts)}:${operations}`,
    )
}

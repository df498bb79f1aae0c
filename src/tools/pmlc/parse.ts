/** Parser of pmlc's commands. pmlc(1) */

/** A metric, or a name above metrics, with the requested instances; empty for all. */
export interface ControlledMetric {
  readonly name: string
  readonly instances: readonly (string | number)[]
}

/** Selects a pmlogger. */
export type LoggerSpec =
  | { readonly kind: 'primary' }
  | { readonly kind: 'pid'; readonly pid: number }
  | { readonly kind: 'port'; readonly port: number }

export type Command =
  | { readonly kind: 'show'; readonly host: string | undefined }
  | { readonly kind: 'connect'; readonly logger: LoggerSpec; readonly host: string | undefined }
  | { readonly kind: 'query'; readonly metrics: readonly ControlledMetric[] }
  | {
      readonly kind: 'log'
      readonly control: 'mandatory' | 'advisory'
      readonly state: 'on' | 'off' | 'maybe'
      readonly deltaMs: number
      readonly metrics: readonly ControlledMetric[]
    }
  | { readonly kind: 'timezone'; readonly zone: string }
  | { readonly kind: 'sleep'; readonly ms: number }
  | { readonly kind: 'status' | 'newVolume' | 'sync' | 'help' | 'disconnect' | 'quit' | 'nothing' }

/** Milliseconds per unit. Names may also end in `s`. */
const UNITS: Readonly<Record<string, number>> = {
  msec: 1,
  millisecond: 1,
  sec: 1000,
  second: 1000,
  min: 60_000,
  minute: 60_000,
  hour: 3_600_000,
}
const MAX_DELTA_MS = 2 ** 28 - 1

interface Token {
  readonly kind: 'word' | 'number' | 'string' | 'sign'
  readonly text: string
}

const TOKEN = /\s+|#.*|([A-Za-z][A-Za-z0-9_.]*)|(\d+)|"([^"\n]*)"|'([^'\n]*)'|([{}[\],?]|@\s*\S+)|(.)/g

/** Returns whether a command continues on the next line, because a brace is open. */
export function isOpen(text: string): boolean {
  if (!/^\s*(?:log|mandatory|advisory|query)\b/.test(text)) return false
  const plain = text.replaceAll(/#.*/g, '').replaceAll(/"[^"\n]*"|'[^'\n]*'/g, '')
  return plain.split('{').length > plain.split('}').length
}

/** Parses one command; an empty line is `nothing`. Throws a SyntaxError with the message to show. */
export function parseCommand(text: string): Command {
  const parser = new CommandParser(text)
  const command = parser.command()
  parser.end()
  return command
}

class CommandParser {
  readonly #tokens: Token[] = []
  #next = 0

  constructor(text: string) {
    for (const [, word, number, double, single, sign, other] of text.matchAll(TOKEN)) {
      if (word !== undefined) this.#tokens.push({ kind: 'word', text: word })
      else if (number !== undefined) this.#tokens.push({ kind: 'number', text: number })
      else if (double !== undefined || single !== undefined)
        this.#tokens.push({ kind: 'string', text: double ?? single ?? '' })
      else if (sign !== undefined) this.#tokens.push({ kind: 'sign', text: sign })
      else if (other !== undefined) this.#fail(`Unexpected character '${other}'`)
    }
  }

  command(): Command {
    const token = this.#tokens[this.#next]
    if (token === undefined) return { kind: 'nothing' }
    if (token.text === '?') {
      this.#next++
      return { kind: 'help' }
    }
    const isDirect = this.#accept('log')
    if (this.#accept('mandatory')) return this.#log('mandatory')
    if (this.#accept('advisory')) return this.#log('advisory')
    if (isDirect) this.#fail()
    return this.#simple(this.#word())
  }

  end(): void {
    if (this.#next < this.#tokens.length) this.#fail()
  }

  #simple(word: string): Command {
    switch (word) {
      case 'show':
        this.#accept('loggers')
        return { kind: 'show', host: this.#host() }
      case 'connect':
        return { kind: 'connect', logger: this.#logger(), host: this.#host() }
      case 'query':
        return { kind: 'query', metrics: this.#metrics() }
      case 'new':
        if (!this.#accept('volume')) this.#fail()
        return { kind: 'newVolume' }
      case 'timezone':
        return { kind: 'timezone', zone: this.#zone() }
      case 'sleep':
        return { kind: 'sleep', ms: this.#number() }
      case 'flush':
      case 'sync':
        return { kind: 'sync' }
      case 'help':
      case 'h':
        return { kind: 'help' }
      case 'status':
      case 'disconnect':
      case 'quit':
        return { kind: word }
      default:
        return this.#fail()
    }
  }

  #log(control: 'mandatory' | 'advisory'): Command {
    const state = this.#word()
    if (state === 'on')
      return { kind: 'log', control, state, deltaMs: this.#interval(), metrics: this.#metrics() }
    if (state !== 'off' && (state !== 'maybe' || control !== 'mandatory')) return this.#fail()
    return { kind: 'log', control, state, deltaMs: 0, metrics: this.#metrics() }
  }

  #interval(): number {
    if (this.#accept('once')) return 0
    this.#accept('every')
    const count = this.#number()
    const unit = this.#word()
    const scale = UNITS[unit] ?? UNITS[unit.replace(/s$/, '')]
    if (scale === undefined) return this.#fail()
    const ms = count * scale
    if (ms > MAX_DELTA_MS) this.#fail(`Logging delta (${ms} msec) cannot be bigger than ${MAX_DELTA_MS} msec`)
    return ms
  }

  #metrics(): ControlledMetric[] {
    if (!this.#accept('{')) return [this.#metric()]
    const metrics = [this.#metric()]
    while (!this.#accept('}')) {
      this.#accept(',')
      metrics.push(this.#metric())
    }
    return metrics
  }

  #metric(): ControlledMetric {
    const name = this.#word()
    const instances: (string | number)[] = []
    if (this.#accept('[')) {
      do {
        const token = this.#tokens[this.#next++]
        if (token === undefined || token.kind === 'sign') return this.#fail()
        instances.push(token.kind === 'number' ? Number(token.text) : token.text)
        this.#accept(',')
      } while (!this.#accept(']'))
    }
    return { name, instances }
  }

  #logger(): LoggerSpec {
    if (this.#accept('primary')) return { kind: 'primary' }
    if (this.#accept('port')) return { kind: 'port', port: this.#number() }
    return { kind: 'pid', pid: this.#number() }
  }

  /** Parses `@host`, or `at host`. */
  #host(): string | undefined {
    const token = this.#tokens[this.#next]
    if (token?.text.startsWith('@') === true && token.kind === 'sign') {
      this.#next++
      return token.text.slice(1).trim()
    }
    return this.#accept('at') ? this.#word() : undefined
  }

  #zone(): string {
    const token = this.#tokens[this.#next++]
    if (token?.kind === 'string') return token.text
    if (token?.text === 'local' || token?.text === 'logger') return token.text
    return this.#fail()
  }

  #accept(text: string): boolean {
    const token = this.#tokens[this.#next]
    if (token === undefined || token.text !== text || token.kind === 'string') return false
    this.#next++
    return true
  }

  #word(): string {
    const token = this.#tokens[this.#next++]
    return token?.kind === 'word' ? token.text : this.#fail()
  }

  #number(): number {
    const token = this.#tokens[this.#next++]
    return token?.kind === 'number' ? Number(token.text) : this.#fail()
  }

  #fail(message = 'syntax error'): never {
    throw new SyntaxError(message)
  }
}

/**
 * Files that define derived metrics. pmLoadDerivedConfig(3), docs/reference/derived-metrics.md
 *
 *     NAME = EXPRESSION
 *     NAME(oneline) = TEXT         NAME(helptext) = 'TEXT'
 *     # comment, where # is the first character
 *     #control NAME=VALUE,...
 *
 * A backslash at the end continues a line; text in quotes continues to the closing quote.
 */
import { PcpError } from '../model/errors.ts'
import { setControls } from './controls.ts'
import { type DerivedDefinitions, type DerivedText, isDefinition, isDerivedName } from './definitions.ts'

/** Options of `loadDerived`. */
export interface LoadOptions {
  /** Name of the file, for messages. */
  readonly file?: string
  /** Called with each message, one or more whole lines. */
  readonly report?: (text: string) => void
  /** Controls that `#control` lines must not set. */
  readonly locked?: ReadonlySet<string>
}

/** Predefined metrics, which have texts without a definition. */
const EVENT_METRICS: ReadonlySet<string> = new Set(['event.flags', 'event.missed'])
const CONTROL = '#control'
const DEFINITION = /^\s*([^\s=(]*)\s*(\(?)/

/** Adds the definitions of a configuration file; returns their number. Errors are reported, and the rest is loaded. */
export function loadDerived(
  text: string,
  definitions: DerivedDefinitions,
  options: LoadOptions = {},
): number {
  return new Loader(text, definitions, options).run()
}

class Loader {
  readonly #lines: string[]
  readonly #definitions: DerivedDefinitions
  readonly #options: LoadOptions
  /** Index of the next line, and of the line for messages. */
  #next = 0
  #at = 0
  #count = 0

  constructor(text: string, definitions: DerivedDefinitions, options: LoadOptions) {
    this.#lines = text.split('\n').map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line))
    this.#definitions = definitions
    this.#options = options
  }

  run(): number {
    while (this.#next < this.#lines.length) {
      this.#at = this.#next
      const line = this.#logicalLine()
      if (line.startsWith('#')) this.#comment(line)
      else if (line.trim() !== '') this.#define(line)
    }
    return this.#count
  }

  #logicalLine(): string {
    let line = this.#lines[this.#next++]!
    while (line.endsWith('\\') && this.#next < this.#lines.length)
      line = line.slice(0, -1) + this.#lines[this.#next++]!
    return line
  }

  #report(what: string): void {
    const { file = '-', report } = this.#options
    report?.(`[${file}:${this.#at + 1}] ${what}\n`)
  }

  #refuse(line: string, why: string): void {
    this.#report(`Error: pmLoadDerivedConfig: ${why}\n${line}`)
  }

  #comment(line: string): void {
    if (!line.startsWith(CONTROL)) return
    setControls(
      this.#definitions.controls,
      line.slice(CONTROL.length + 1),
      (severity, what) => this.#report(`${severity}: ${what}`),
      this.#options.locked,
    )
  }

  #define(line: string): void {
    const [start, name, parenthesis] = DEFINITION.exec(line)! as unknown as [string, string, string]
    if (parenthesis !== '') {
      this.#describe(line, name, start.length)
      return
    }
    if (line[start.length] !== '=') {
      this.#refuse(line, "missing ``='' after derived metric name")
      return
    }
    const text = line.slice(start.length + 1)
    if (name === '') this.#refuse(line, 'derived metric name missing')
    else if (text.trim() === '') this.#refuse(line, 'expression missing')
    else if (!isDerivedName(name))
      this.#report(`Error: pmLoadDerivedConfig: illegal derived metric name (${name})`)
    else this.#add(name, text)
  }

  #add(name: string, text: string): void {
    const outcome = this.#definitions.add(name, text)
    if (isDefinition(outcome)) {
      this.#count++
      return
    }
    const { offset, why } = outcome
    const caret = `${' '.repeat(Math.max(0, offset))}^`.padEnd(text.length)
    const reason = why === undefined ? '' : `\n${why}`
    this.#report(`Error: pmRegisterDerived(${name}, ...) syntax error\n${text}\n${caret}${reason}`)
  }

  /** Parses `NAME(oneline) = TEXT` after the parenthesis. */
  #describe(line: string, name: string, from: number): void {
    const attribute = /^\s*([^\s)=]*)\s*(\)?)\s*(=?)\s*/.exec(line.slice(from))!
    const [all, key, close, equals] = attribute as unknown as [string, string, string, string]
    if (key === '') this.#refuse(line, 'attribute name missing')
    else if (close === '') this.#refuse(line, "missing ')' after attribute")
    else if (equals === '') this.#refuse(line, "missing ``='' after derived metric name")
    else {
      const text = this.#value(line.slice(from + all.length))
      if (text !== undefined) this.#setText(line, name, key, text)
    }
  }

  #setText(line: string, name: string, key: string, text: string): void {
    const level: DerivedText | undefined = key === 'oneline' ? key : key === 'helptext' ? 'help' : undefined
    if (level === undefined) {
      this.#refuse(line, `attribute (${key}) is unknown for metric (${name})`)
      return
    }
    const duplicate = `duplicate value for attribute (${key}) of metric (${name})`
    if (EVENT_METRICS.has(name)) {
      this.#refuse(line, duplicate)
      return
    }
    try {
      this.#definitions.setText(name, level, text)
    } catch (error) {
      const isUnknown = PcpError.from(error).code === 'PM_ERR_NAME'
      this.#refuse(line, isUnknown ? `cannot set attribute, derived metric (${name}) not defined` : duplicate)
    }
  }

  /** Parses a text in quotes, which may continue on further lines, or else the rest of the line. */
  #value(rest: string): string | undefined {
    const quote = rest[0]
    if (quote !== '"' && quote !== "'") return rest.trimEnd()
    let line = rest
    let text = ''
    for (let i = 1; ; i++) {
      if (i >= line.length) {
        if (this.#next >= this.#lines.length) break
        line = `\n${this.#logicalLine()}`
        i = 0
      }
      if (line[i] === quote) {
        const extra = line.slice(i + 1).trim()
        if (extra !== '')
          this.#report(
            `Warning: pmLoadDerivedConfig: extra text (${extra}) after attribute value will be ignored`,
          )
        return text
      }
      if (line[i] === '\\') i++
      text += line[i] ?? ''
    }
    this.#report(`Error: pmLoadDerivedConfig: missing termination (${quote}) for value`)
    return undefined
  }
}

/** Preprocessor of name spaces and configuration files. docs/formats/pmns.md §4 */
import { encodeText } from '../base/text.ts'
import { PcpError } from '../model/errors.ts'
import { Macros } from './cpp-macros.ts'
import type { CppTrace } from './cpp-trace.ts'

/** An included file. */
export interface CppInclude {
  /** Path in line markers and messages. */
  readonly path: string
  readonly text: string
}

/** Options of the preprocessor. */
export interface CppOptions {
  /** Name of the input in line markers and messages. */
  readonly file: string
  /** Uses the control character `%` instead of `#`, and keeps comments. */
  readonly isPercent?: boolean
  /** Expands only `#name` and `#{name}`. */
  readonly isRestricted?: boolean
  /** Writes `# line "file"` where the source changes; default true. */
  readonly hasMarkers?: boolean
  /** Finds the file of an #include; undefined if it is missing. */
  readonly resolve?: (name: string) => CppInclude | undefined
  /** Runs the command of a #shell and returns its output. If missing, #shell is rejected, as it runs any command in a file. */
  readonly runShell?: (command: string) => string
  /** Receives the trace, which costs time. */
  readonly trace?: CppTrace
}

/** Deepest nesting of files and commands, including the main input. */
const DEEPEST = 5
const BLOCK = 32 * 1024
const DIRECTIVES = ['define', 'undef', 'ifdef', 'ifndef', 'else', 'endif', 'include', 'shell'] as const
type Directive = (typeof DIRECTIVES)[number]

const MACRO_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

interface Frame {
  readonly file: string
  line: number
}

interface Conditional {
  readonly line: number
  isTrue: boolean
}

/**
 * Preprocesses text in chunks and passes on output in blocks. The first error is final: all output before it is passed on, then
 * PM_ERR_PMNS is thrown with the two lines that pmcpp prints as its message.
 */
export class Preprocessor {
  readonly #options: CppOptions
  readonly #emit: (text: string) => void
  readonly #control: string
  readonly #macros: Macros
  readonly #frames: Frame[]
  #conditional: Conditional | undefined
  /** Line at which the open comment started, 0 outside comments. */
  #commentLine = 0
  #rest = ''
  #out = ''

  constructor(options: CppOptions, emit: (text: string) => void) {
    this.#options = options
    this.#emit = emit
    this.#control = options.isPercent ? '%' : '#'
    this.#macros = new Macros(options)
    this.#frames = [{ file: options.file, line: 0 }]
  }

  /** Defines a macro as `-D` does, before any text: `name` or `name=value`; `argument` is its number in messages. */
  define(definition: string, argument: number): void {
    const source = `${this.#control}define ${definition.replace('=', ' ')}`
    this.#frames.push({ file: '<arg>', line: argument })
    this.#directive('define', source)
    this.#frames.pop()
  }

  /** Takes the next piece of the main input, split anywhere. */
  write(chunk: string): void {
    this.#start()
    if (!chunk.includes('\n')) {
      this.#rest += chunk // searched only once it is complete, so that a long line costs no more than many short ones
      return
    }
    try {
      this.#rest = this.#lines(this.#rest === '' ? chunk : this.#rest + chunk)
    } finally {
      this.#flush()
    }
  }

  /** Ends the main input; a last line without newline counts. */
  end(): void {
    this.#start()
    try {
      if (this.#rest !== '') this.#line(this.#rest)
      this.#rest = ''
      if (this.#commentLine > 0)
        this.#fail(`Comment at line ${this.#commentLine} not terminated before end of file`)
      if (this.#conditional !== undefined) {
        const c = this.#control
        const { line } = this.#conditional
        this.#fail(`End of input and no matching ${c}endif for ${c}ifdef or ${c}ifndef at line ${line}`)
      }
    } finally {
      this.#flush()
    }
  }

  #start(): void {
    const main = this.#frames[0]!
    if (main.line > 0) return
    main.line = 1
    this.#mark()
  }

  #flush(): void {
    if (this.#out !== '') {
      this.#emit(this.#out)
      this.#options.trace?.wrote(this.#out)
    }
    this.#out = ''
  }

  #mark(): void {
    const { file, line } = this.#frames.at(-1)!
    if (this.#options.hasMarkers ?? true) this.#out += `# ${line} "${file}"\n`
  }

  /** Processes whole lines; returns the text after the last newline. */
  #lines(text: string): string {
    let start = this.#plainLines(text)
    for (;;) {
      const end = text.indexOf('\n', start)
      if (end === -1) return text.slice(start)
      this.#line(text.slice(start, end))
      start = end + 1
      if (this.#out.length > BLOCK) this.#flush()
    }
  }

  /** Copies lines without macros, comments or directives, most of a name space; returns the offset of the first other line. */
  #plainLines(text: string): number {
    if (
      this.#options.trace !== undefined ||
      this.#macros.size > 0 ||
      this.#conditional !== undefined ||
      this.#commentLine > 0
    )
      return 0
    if (text.includes(this.#control) || text.includes('/*')) return 0
    const frame = this.#frames.at(-1)!
    let start = 0
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
      start = end + 1
      frame.line++
    }
    this.#out += text.slice(0, start)
    return start
  }

  /** Processes one line. The line number of the frame is incremented afterwards, which suits messages and line markers. */
  #line(raw: string): void {
    const { trace } = this.#options
    const frame = this.#frames.at(-1)!
    trace?.read(raw)
    const text = this.#uncomment(raw)
    const directive = this.#directiveOf(text)
    if (directive !== undefined) {
      if (!this.#directive(directive, text)) this.#out += '\n'
    } else if (this.#conditional?.isTrue === false) {
      this.#out += '\n'
    } else {
      if (this.#macros.size > 0) trace?.expand(text, (name) => this.#macros.get(name), this.#options)
      this.#out += this.#macros.expand(text)
      this.#out += '\n'
    }
    frame.line++
  }

  /** Replaces comments by as many blanks as they had bytes, and removes trailing blanks from such lines. */
  #uncomment(line: string): string {
    if (this.#options.isPercent || (this.#commentLine === 0 && !line.includes('/*'))) return line
    let text = ''
    let at = 0
    while (at < line.length) {
      let from = at
      if (this.#commentLine === 0) {
        const open = line.indexOf('/*', at)
        if (open === -1) break
        text += line.slice(at, open)
        at = open
        from = open + 2
        this.#commentLine = this.#frames.at(-1)!.line
      }
      const close = line.indexOf('*/', from)
      if (close === -1) return trimEnd(text)
      text += ' '.repeat(encodeText(line.slice(at, close + 2)).length)
      at = close + 2
      this.#commentLine = 0
    }
    return trimEnd(text + line.slice(at))
  }

  #directiveOf(text: string): Directive | undefined {
    if (!text.startsWith(this.#control)) return undefined
    return DIRECTIVES.find((word) => text.startsWith(word, 1))
  }

  /** Executes a directive; returns true if the line has no output line. */
  #directive(word: Directive, source: string): boolean {
    const rest = source.slice(1 + word.length)
    const isOff = this.#conditional?.isTrue === false
    switch (word) {
      case 'define':
        this.#define(rest, source, isOff)
        return false
      case 'undef': {
        const name = this.#onlyName(rest, source)
        if (!isOff) this.#macros.delete(name)
        return false
      }
      case 'ifdef':
      case 'ifndef': {
        const name = this.#onlyName(rest, source)
        const c = this.#control
        if (this.#conditional !== undefined) this.#fail(`Nested ${c}ifdef or ${c}ifndef`, source)
        const isTrue = this.#macros.has(name) === (word === 'ifdef')
        this.#conditional = { line: this.#frames.at(-1)!.line, isTrue }
        return false
      }
      case 'else':
      case 'endif':
        this.#else(word, rest, source)
        return false
      case 'include':
      case 'shell':
        if (isOff) return false
        this.#nest(word === 'include' ? this.#include(rest, source) : this.#shell(rest, source))
        return true
    }
  }

  #define(rest: string, source: string, isOff: boolean): void {
    const { word: name, rest: afterName } = this.#name(rest, source)
    const text = trimStart(afterName)
    let value: string
    let after: string
    const quote = text[0]
    if (quote === '"' || quote === "'") {
      const close = text.indexOf(quote, 1)
      if (close === -1) this.#fail(`Unterminated value string in ${this.#control}define`, source)
      value = text.slice(1, close)
      after = text.slice(close + 1)
    } else {
      const split = splitWord(text)
      value = split.word
      after = split.rest
    }
    this.#nothing(after, source)
    if (isOff) return
    if (this.#macros.has(name)) this.#fail('Macro redefinition', source)
    this.#macros.set(name, value)
    this.#options.trace?.macro(name, value)
  }

  #else(word: 'else' | 'endif', rest: string, source: string): void {
    this.#nothing(rest, source)
    const open = this.#conditional
    const c = this.#control
    if (open === undefined) this.#fail(`No matching ${c}ifdef or ${c}ifndef for ${c}${word}`, source)
    if (word === 'endif') this.#conditional = undefined
    else open.isTrue = !open.isTrue
  }

  #include(rest: string, source: string): CppInclude {
    const c = this.#control
    const open = trimStart(rest)[0]
    if (open !== '"' && open !== '<') this.#fail(`Expected " or < after ${c}include`, source)
    const close = open === '"' ? '"' : '>'
    const name = this.#quoted(rest, close, 'file name', `${c}include line`, source)
    if (this.#frames.length >= DEEPEST) this.#fail(`${c}include and/or ${c}shell nesting too deep`, source)
    const found = name === '' ? undefined : this.#options.resolve?.(name)
    if (found === undefined) this.#fail(`Cannot open file for ${c}include`, source)
    return found
  }

  #shell(rest: string, source: string): CppInclude {
    const c = this.#control
    const open = trimStart(rest)[0]
    if (open !== '"' && open !== "'") this.#fail(`Expected " or ' after ${c}shell`, source)
    const command = this.#quoted(rest, open, 'command', `${c}shell line`, source)
    if (this.#frames.length >= DEEPEST) this.#fail(`${c}shell and/or ${c}include nesting too deep`, source)
    const run = this.#options.runShell
    if (run === undefined) this.#fail(`Running commands with ${c}shell is not allowed here`, source)
    this.#flush()
    return { path: '<shell>', text: run(command) }
  }

  /** Reads another text at this point. */
  #nest(source: CppInclude): void {
    this.#frames.push({ file: source.path, line: 1 })
    this.#mark()
    const rest = this.#lines(source.text)
    if (rest !== '') this.#line(rest)
    this.#frames.pop()
    const frame = this.#frames.at(-1)!
    frame.line++
    this.#mark()
    frame.line-- // the caller increments it for the directive
  }

  #quoted(rest: string, close: string, what: string, where: string, source: string): string {
    const text = trimStart(rest)
    const end = text.indexOf(close, 1)
    if (end === -1) this.#fail(`Expected ${close} after ${what}`, source)
    if (trimStart(text.slice(end + 1)) !== '') this.#fail(`Unexpected extra text in ${where}`, source)
    return text.slice(1, end)
  }

  #name(rest: string, source: string): { word: string; rest: string } {
    const split = splitWord(trimStart(rest))
    if (split.word === '') this.#fail('Missing macro name', source)
    if (!MACRO_NAME.test(split.word)) this.#fail('Illegal character in macro name', source)
    return split
  }

  #onlyName(rest: string, source: string): string {
    const split = this.#name(rest, source)
    this.#nothing(split.rest, source)
    return split.word
  }

  #nothing(rest: string, source: string): void {
    if (trimStart(rest) !== '') this.#fail('Unexpected extra text in a control line', source)
  }

  /** Throws PM_ERR_PMNS; `source` is the offending line, if there is one. */
  #fail(message: string, source?: string): never {
    const { file, line } = this.#frames.at(-1)!
    const head = source === undefined ? `${this.#options.file}:` : `${file}[${line}]: ${source}`
    throw new PcpError('PM_ERR_PMNS', `pmcpp: ${head}\npmcpp: Error: ${message}`, { reason: 'verbatim' })
  }
}

/** Preprocesses a whole text. Throws as `Preprocessor` does. */
export function preprocess(
  text: string,
  options: CppOptions & { readonly defines?: Readonly<Record<string, string>> },
): string {
  let output = ''
  const preprocessor = new Preprocessor(options, (block) => {
    output += block
  })
  for (const [i, [name, value]] of Object.entries(options.defines ?? {}).entries())
    preprocessor.define(`${name}=${value}`, i + 1)
  preprocessor.write(text)
  preprocessor.end()
  return output
}

function isBlank(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13)
}

function trimStart(text: string): string {
  let at = 0
  while (isBlank(text.charCodeAt(at))) at++
  return text.slice(at)
}

function trimEnd(text: string): string {
  let end = text.length
  while (end > 0 && isBlank(text.charCodeAt(end - 1))) end--
  return text.slice(0, end)
}

/** Splits before the first blank. */
function splitWord(text: string): { word: string; rest: string } {
  let at = 0
  while (at < text.length && !isBlank(text.charCodeAt(at))) at++
  return { word: text.slice(0, at), rest: text.slice(at) }
}

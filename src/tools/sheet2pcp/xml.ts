/** Parser of the XML subset in map files and spreadsheets: elements, attributes, text, comments. No external entities. */
import { PcpError } from '../../model/errors.ts'

/** Parts of an XML text. */
export type XmlEvent =
  | {
      readonly type: 'open'
      readonly name: string
      readonly attributes: ReadonlyMap<string, string>
      readonly line: number
    }
  | { readonly type: 'close'; readonly name: string; readonly line: number }
  | { readonly type: 'text'; readonly text: string; readonly line: number }
  | { readonly type: 'comment'; readonly text: string; readonly line: number }

const NAME = /[^\s/>=<]+/y
const SPACE = /\s*/y
const ENTITY = /&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi
const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }

/** Calls `visit` for each part; an empty element is opened and closed. Throws PM_ERR_GENERIC with the line for invalid XML. */
export function parseXml(text: string, visit: (event: XmlEvent) => void): void {
  new XmlReader(text, visit).read()
}

class XmlReader {
  readonly #text: string
  readonly #visit: (event: XmlEvent) => void
  #at = 0
  #line = 1
  /** Offset up to which lines were counted. */
  #counted = 0

  constructor(text: string, visit: (event: XmlEvent) => void) {
    this.#text = text
    this.#visit = visit
  }

  read(): void {
    const text = this.#text
    const open: string[] = []
    while (this.#at < text.length) {
      const start = text.indexOf('<', this.#at)
      const line = this.#lineOf(this.#at)
      const end = start < 0 ? text.length : start
      if (end > this.#at) this.#visit({ type: 'text', text: decoded(text.slice(this.#at, end)), line })
      this.#at = end
      if (start >= 0) this.#markup(open)
    }
    if (open.length > 0) throw this.#fail(`<${open[open.length - 1]}> is not closed`)
  }

  #markup(open: string[]): void {
    const line = this.#lineOf(this.#at)
    if (this.#take('<!--')) this.#visit({ type: 'comment', text: this.#until('-->'), line })
    else if (this.#take('<![CDATA[')) this.#visit({ type: 'text', text: this.#until(']]>'), line })
    else if (this.#take('<?')) this.#until('?>')
    else if (this.#take('<!')) this.#until('>')
    else if (this.#take('</')) {
      const name = this.#match(NAME)
      this.#match(SPACE)
      if (!this.#take('>') || open.pop() !== name) throw this.#fail(`</${name}> closes nothing`)
      this.#visit({ type: 'close', name, line })
    } else this.#element(open, line)
  }

  #element(open: string[], line: number): void {
    this.#at++
    const name = this.#match(NAME)
    if (name === '') throw this.#fail('no name after "<"')
    const attributes = new Map<string, string>()
    for (;;) {
      this.#match(SPACE)
      const isEmpty = this.#take('/>')
      if (isEmpty || this.#take('>')) {
        this.#visit({ type: 'open', name, attributes, line })
        if (isEmpty) this.#visit({ type: 'close', name, line })
        else open.push(name)
        return
      }
      const attribute = this.#match(NAME)
      this.#match(SPACE)
      if (attribute === '' || !this.#take('=')) throw this.#fail(`<${name}> has a bad attribute`)
      this.#match(SPACE)
      const quote = this.#text[this.#at]
      if (quote !== '"' && quote !== "'") throw this.#fail(`attribute ${attribute} has no quotes`)
      this.#at++
      attributes.set(attribute, decoded(this.#until(quote)))
    }
  }

  #take(text: string): boolean {
    if (!this.#text.startsWith(text, this.#at)) return false
    this.#at += text.length
    return true
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)?.[0] ?? ''
    this.#at += found.length
    return found
  }

  #until(end: string): string {
    const at = this.#text.indexOf(end, this.#at)
    if (at < 0) throw this.#fail(`no ${end}`)
    const text = this.#text.slice(this.#at, at)
    this.#at = at + end.length
    return text
  }

  #lineOf(at: number): number {
    for (; this.#counted < at; this.#counted++) if (this.#text[this.#counted] === '\n') this.#line++
    return this.#line
  }

  #fail(what: string): PcpError {
    return new PcpError('PM_ERR_GENERIC', `line ${this.#lineOf(this.#at)}: ${what}`)
  }
}

function decoded(text: string): string {
  if (!text.includes('&')) return text
  return text.replace(ENTITY, (whole, hex?: string, decimal?: string, name?: string) => {
    if (name !== undefined) return ENTITIES[name] ?? whole
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole
  })
}

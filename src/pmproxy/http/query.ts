/** Parameters of a URL or a urlencoded body. docs/reference/pmproxy.md */
import { decodeText, encodeText } from '../../base/text.ts'
import { PcpError } from '../../model/errors.ts'

/** Maximum number of parameters of a request. */
const MAX_PARAMETERS = 1000

/** Parameters that may contain control characters, as they hold several lines or are only sent back. */
const TEXTS: ReadonlySet<string> = new Set(['expr', 'value', 'derive', 'client', 'rules'])
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern detects control characters
const CONTROLS = /[\u0000-\u001f\u007f]/

/** Returns a parameter's name for messages. */
function jsonName(name: string): string {
  return /^\w{1,32}$/.test(name) ? name : 'a parameter'
}

/** Parameters by name. */
export class Query {
  /** The original text. */
  readonly text: string
  readonly #values = new Map<string, string[]>()

  /** Splits at & and the first =; a plus means a space. An invalid % is kept literally; parameters after the thousandth are ignored. */
  constructor(text: string) {
    this.text = text
    for (const part of text.replaceAll('+', ' ').split('&', MAX_PARAMETERS)) {
      if (part === '') continue
      const equals = part.indexOf('=')
      const name = decodePercent(equals < 0 ? part : part.slice(0, equals))
      const value = equals < 0 ? '' : decodePercent(part.slice(equals + 1))
      const list = this.#values.get(name)
      if (list === undefined) this.#values.set(name, [value])
      else list.push(value)
    }
  }

  /** Returns the first value of the first of these names that is present; undefined without one. */
  get(...names: readonly string[]): string | undefined {
    for (const name of names) {
      const value = this.#values.get(name)?.[0]
      if (value !== undefined) return value
    }
    return undefined
  }

  /** Throws PM_ERR_ARG for control characters in names and other values that may be printed or sent as lines. */
  refuseControls(): void {
    for (const [name, values] of this.#values)
      if (!TEXTS.has(name) && values.some((value) => CONTROLS.test(value)))
        throw new PcpError('PM_ERR_ARG', `${jsonName(name)} has control characters`)
  }

  /** Returns all values of a name. */
  all(name: string): readonly string[] {
    return this.#values.get(name) ?? []
  }

  /** Returns the elements of a comma-separated list without empty ones; undefined if the parameter is missing. */
  list(...names: readonly string[]): readonly string[] | undefined {
    return this.get(...names)
      ?.split(',')
      .filter((each) => each !== '')
  }
}

/** Decodes %XX sequences as UTF-8 bytes. */
export function decodePercent(text: string): string {
  if (!text.includes('%')) return text
  const bytes = encodeText(text)
  const out = new Uint8Array(bytes.length)
  let length = 0
  for (let i = 0; i < bytes.length; i++) {
    const high = bytes[i] === 0x25 ? digit(bytes[i + 1]) : -1
    const low = high < 0 ? -1 : digit(bytes[i + 2])
    if (low < 0) out[length++] = bytes[i]!
    else {
      out[length++] = high * 16 + low
      i += 2
    }
  }
  return decodeText(out, 0, length)
}

function digit(byte = 0): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x61 + 10 : -1
}

/** Parameters of a URL or an urlencoded body. docs/pmproxy.md */
import { decodeText, encodeText } from '../../base/text.ts'
import { PcpError } from '../../model/errors.ts'

/** Most parameters of one request. */
const MAX_PARAMETERS = 1000

/** Parameters that may have several lines, or are only sent back. */
const TEXTS: ReadonlySet<string> = new Set(['expr', 'value', 'derive', 'client'])
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROLS = /[\u0000-\u001f\u007f]/

/** A name of a parameter as messages repeat it. */
function jsonName(name: string): string {
  return /^\w{1,32}$/.test(name) ? name : 'a parameter'
}

/** Parameters by name. */
export class Query {
  /** As it was given. */
  readonly text: string
  readonly #values = new Map<string, string[]>()

  /** Splits at & and the first =; a plus sign is a blank. A % that two hexadecimal digits do not follow stands for itself; what is behind the thousandth is ignored. */
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

  /** The first value of the first of these names that is there; undefined without one. */
  get(...names: readonly string[]): string | undefined {
    for (const name of names) {
      const value = this.#values.get(name)?.[0]
      if (value !== undefined) return value
    }
    return undefined
  }

  /** Throws PM_ERR_ARG for names and the like with control characters, which others would print or send as lines. Texts may have them. */
  refuseControls(): void {
    for (const [name, values] of this.#values)
      if (!TEXTS.has(name) && values.some((value) => CONTROLS.test(value)))
        throw new PcpError('PM_ERR_ARG', `${jsonName(name)} has control characters`)
  }

  /** All values of a name. */
  all(name: string): readonly string[] {
    return this.#values.get(name) ?? []
  }

  /** The elements of a comma list; undefined where `get` is, empty ones left out. */
  list(...names: readonly string[]): readonly string[] | undefined {
    return this.get(...names)
      ?.split(',')
      .filter((each) => each !== '')
  }
}

/** Replaces %XX by the bytes it stands for, which are UTF-8. */
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

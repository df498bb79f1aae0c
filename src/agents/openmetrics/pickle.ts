/** Reads and writes lists of names as PCP's agent does: Python's pickle, protocol 0. docs/reference/agents/openmetrics.md */

/** Names in order of their numbers, and whether instance names start with their number. */
export interface NameList {
  readonly names: readonly string[]
  readonly hasPrefix: boolean
}

/** Encodes a list in ASCII, as PCP's agent does. */
export function pickleNames({ names, hasPrefix }: NameList): string {
  let memo = 0
  const items = names.map((name) => `V${escapeName(name)}\np${++memo}\na`)
  return `(lp0\n${items.join('')}.${hasPrefix ? 'I01' : 'I00'}\n.`
}

/** Decodes a list written by PCP's agent or `pickleNames`; undefined for anything else. */
export function unpickleNames(text: string): NameList | undefined {
  const head = /^(?:\(lp\d+\n|\(l|\]q?)/.exec(text)
  if (head === null) return undefined
  const item = /([VS])([^\n]*)\n(?:p\d+\n)?a/gy
  const names: string[] = []
  let at = head[0].length
  for (;;) {
    item.lastIndex = at
    const found = item.exec(text)
    if (found === null) break
    const name = found[1] === 'V' ? unescapeName(found[2]!) : found[2]!.replace(/^(['"])(.*)\1$/s, '$2')
    names.push(name)
    at = item.lastIndex
  }
  const tail = text.slice(at)
  if (!tail.startsWith('.')) return undefined
  return { names, hasPrefix: tail === '.I01\n.' }
}

/** Escapes backslashes, line ends and all but ASCII as \uXXXX, which Python reads. */
function escapeName(name: string): string {
  let text = ''
  for (const char of name) {
    const code = char.codePointAt(0)!
    if (code >= 0x20 && code < 0x7f && char !== '\\') text += char
    else if (code > 0xffff) text += `\\U${code.toString(16).padStart(8, '0')}`
    else text += `\\u${code.toString(16).padStart(4, '0')}`
  }
  return text
}

function unescapeName(text: string): string {
  return text.replace(/\\u([\da-fA-F]{4})|\\U([\da-fA-F]{8})/g, (all, short?: string, long?: string) => {
    const code = Number.parseInt(short ?? long ?? '', 16)
    return code <= 0x10ffff ? String.fromCodePoint(code) : all
  })
}

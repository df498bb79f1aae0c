/** The form in which PCP's agent keeps lists of names: Python's pickle, protocol 0. docs/openmetrics.md */

/** Names in order of their numbers, and whether the number is part of the name of an instance. */
export interface NameList {
  readonly names: readonly string[]
  readonly hasPrefix: boolean
}

/** The bytes of a list, as PCP's agent writes and reads them. All of them are ASCII. */
export function pickleNames({ names, hasPrefix }: NameList): string {
  let memo = 0
  const items = names.map((name) => `V${escapeName(name)}\np${++memo}\na`)
  return `(lp0\n${items.join('')}.${hasPrefix ? 'I01' : 'I00'}\n.`
}

/** The list in a text that PCP's agent or `pickleNames` wrote; undefined when it is anything else. */
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

/** Backslashes, ends of lines and what is not Latin-1 as \uXXXX; what is not ASCII too, which Python reads as well. */
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

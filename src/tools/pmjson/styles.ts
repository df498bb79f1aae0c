/** Output formats of pmjson. pmjson(1) */
import type { Json } from './parse.ts'

/** Formats without blanks. */
export function minimal(value: Json): string {
  if (typeof value === 'string') return value
  if (value.kind === 'array') return `[${value.items.map(minimal).join(',')}]`
  return `{${value.members.map(([name, member]) => `${name}:${minimal(member)}`).join(',')}}`
}

const STEP = 4

/** Formats one member or item per line, indented by four blanks per level; empty lists take one line, as in PCP. */
export function pretty(value: Json, depth = 0): string {
  if (typeof value === 'string') return value
  const [open, close] = value.kind === 'array' ? '[]' : '{}'
  const inner = ' '.repeat((depth + 1) * STEP)
  const lines =
    value.kind === 'array'
      ? value.items.map((item) => `${inner}${pretty(item, depth + 1)}`)
      : value.members.map(([name, member]) => `${inner}${name}: ${pretty(member, depth + 1)}`)
  const body = lines.length === 0 ? '' : `\n${lines.join(',\n')}\n`
  return `${open}${body}${' '.repeat(depth * STEP)}${close}`
}

/** Formats without quotes, brackets and commas. */
export function yamlLike(value: Json, depth = 0): string {
  if (typeof value === 'string') return bare(value)
  const indent = ' '.repeat(depth * STEP)
  const lines =
    value.kind === 'array'
      ? value.items.map((item) => `${indent}  - ${yamlValue(item, depth + 1)}`)
      : value.members.map(([name, member]) => `${indent}${bare(name)}: ${yamlValue(member, depth + 1)}`)
  return lines.join('\n')
}

/** Formats a value; lists begin on a new line. */
function yamlValue(value: Json, depth: number): string {
  return typeof value === 'string' ? bare(value) : `\n${yamlLike(value, depth)}`
}

function bare(word: string): string {
  return word.startsWith('"') ? word.slice(1, -1) : word
}

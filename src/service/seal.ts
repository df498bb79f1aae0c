/** A generated file's first lines: who wrote it, and a hash that tells later whether it was edited by hand. */
import { createHash } from 'node:crypto'

/** Origin of an existing file. */
export type Origin =
  /** As written by us. */
  | 'ours'
  /** Written by us and changed since. */
  | 'edited'
  /** Written by someone else. */
  | 'foreign'

const HASH_LINE = /^# pcp-ts sha256 ([0-9a-f]{64})\n/m

/** Prepends the seal to a text. `advice` is a line about how to change the file. */
export function sealed(text: string, advice: string): string {
  return `# ${advice}\n# pcp-ts sha256 ${hashOf(text)}\n${text}`
}

/** Returns who wrote the text of a file. */
export function originOf(text: string): Origin {
  const found = HASH_LINE.exec(text)
  if (found === null) return 'foreign'
  return found[1] === hashOf(text.slice(found.index + found[0].length)) ? 'ours' : 'edited'
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

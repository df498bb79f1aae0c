/** stdpmid and the registers from which it is generated. docs/formats/pmns.md §8 */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { decodeText } from '../base/text.ts'

/** Reads the registers of a directory, `stdpmid.*`, sorted by name, without backup copies of editors and package managers. */
export function domainRegisters(dir: string): { file: string; text: string }[] {
  return registerNames(dir).map((file) => ({ file, text: decodeText(readFileSync(join(dir, file))) }))
}

/** Returns whether stdpmid is missing or older than a register. False without registers, from which it would be generated. */
export function isStdpmidStale(dir: string): boolean {
  const names = registerNames(dir)
  const made = statSync(join(dir, 'stdpmid'), { throwIfNoEntry: false })
  return (
    names.length > 0 &&
    (made === undefined || names.some((name) => statSync(join(dir, name)).mtimeMs > made.mtimeMs))
  )
}

const LEFTOVER = /~$|\.(bak|orig|rej|swp|new|prev|save|edit|rpm\w+|dpkg-\w+)$/

function registerNames(dir: string): string[] {
  return readdirSync(dir)
    .filter((name) => name.startsWith('stdpmid.') && !LEFTOVER.test(name))
    .sort()
}

/** stdpmid of a directory of name space files, and the registers it is made of. docs/formats/pmns.md §8 */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { decodeText } from '../base/text.ts'

/** Registers of a directory, `stdpmid.*`, by name; copies that editors and package managers leave are none. */
export function domainRegisters(dir: string): { file: string; text: string }[] {
  return registerNames(dir).map((file) => ({ file, text: decodeText(readFileSync(join(dir, file))) }))
}

/** Is there a register newer than stdpmid, or no stdpmid? Without registers nothing can be made, so false. */
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

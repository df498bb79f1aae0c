/** Generates stdpmid, as Make.stdpmid and Rebuild do. docs/formats/pmns.md §8 */
import { join } from 'node:path'
import { makeStdpmid, type Stdpmid } from '../../pmns/stdpmid.ts'
import { replaceFile } from '../../sys/replace-file.ts'
import { domainRegisters } from '../../sys/stdpmid.ts'

/** Generates stdpmid from the registers in a directory; undefined without registers. Throws Node's error. */
export function updateStdpmid(dir: string): Stdpmid | undefined {
  const registers = domainRegisters(dir)
  if (registers.length === 0) return undefined
  const made = makeStdpmid(registers)
  replaceFile(join(dir, 'stdpmid'), made.text, { keepMode: true })
  return made
}

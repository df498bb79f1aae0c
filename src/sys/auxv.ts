/** Facts the kernel hands every process at its start: Node has no sysconf(3), and running getconf costs a process. */
import { ProcFile } from './proc.ts'

const AT_PAGESZ = 6
const AT_CLKTCK = 17

/** The units of many a number in /proc. */
export interface KernelUnits {
  /** Clock ticks a second. */
  readonly hertz: number
  /** Bytes a page. */
  readonly pagesize: number
}

/** The units of this system's kernel; the usual ones where there is no /proc. @see getauxval(3) */
export function kernelUnits(): KernelUnits {
  const facts = new Map<number, number>()
  const file = new ProcFile('/', '/proc/self/auxv')
  try {
    const { buffer, byteOffset, length } = file.read()
    const view = new DataView(buffer, byteOffset, length)
    // pairs of 64-bit words, of which the low halves are enough for us
    for (let i = 0; i + 16 <= length; i += 16) facts.set(view.getUint32(i, true), view.getUint32(i + 8, true))
  } catch {
    // not Linux, or no /proc: a fixture tree can still be read
  } finally {
    file.close()
  }
  return { hertz: facts.get(AT_CLKTCK) ?? 100, pagesize: facts.get(AT_PAGESZ) ?? 4096 }
}

/** The units, unless the environment says otherwise: PREFIX_HERTZ and PREFIX_PAGESIZE, for fixtures of other systems. */
export function unitsOrGiven(env: Readonly<Record<string, string | undefined>>, prefix: string): KernelUnits {
  const { hertz, pagesize } = kernelUnits()
  return {
    hertz: positive(env[`${prefix}_HERTZ`]) ?? hertz,
    pagesize: positive(env[`${prefix}_PAGESIZE`]) ?? pagesize,
  }
}

function positive(text: string | undefined): number | undefined {
  const value = Number(text)
  return text !== undefined && value > 0 ? value : undefined
}

/** The auxiliary vector of this process: Node has no sysconf(3), and running getconf takes a process. */
import { ProcFile } from './proc.ts'

const AT_PAGESZ = 6
const AT_CLKTCK = 17

/** Units of many numbers in /proc. */
export interface KernelUnits {
  /** Clock ticks per second. */
  readonly hertz: number
  /** Bytes per page. */
  readonly pagesize: number
}

/** Returns the units of this system's kernel, or the usual ones without /proc. @see getauxval(3) */
export function kernelUnits(): KernelUnits {
  const facts = new Map<number, number>()
  const file = new ProcFile('/', '/proc/self/auxv')
  try {
    const { buffer, byteOffset, length } = file.read()
    const view = new DataView(buffer, byteOffset, length)
    // pairs of 64-bit words, of which the low halves are enough
    for (let i = 0; i + 16 <= length; i += 16) facts.set(view.getUint32(i, true), view.getUint32(i + 8, true))
  } catch {
    // not Linux, or no /proc: a fixture tree can still be read
  } finally {
    file.close()
  }
  return { hertz: facts.get(AT_CLKTCK) ?? 100, pagesize: facts.get(AT_PAGESZ) ?? 4096 }
}

/** Returns the units from PREFIX_HERTZ and PREFIX_PAGESIZE, for fixtures of other systems, or those of the kernel. */
export function kernelUnitsFor(
  env: Readonly<Record<string, string | undefined>>,
  prefix: string,
): KernelUnits {
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

/** Names of terminals by device number. /proc/tty/drivers; proc(5), ttyname(3) */
import { lstatSync } from 'node:fs'
import { readAttribute, rooted } from '../../sys/proc.ts'

/** A range of device numbers of one driver: base name, major number, first and last minor number. */
export interface TtyDriver {
  readonly base: string
  readonly major: number
  readonly first: number
  readonly last: number
}

/** Parses /proc/tty/drivers: `pty_slave  /dev/pts  136 0-1048575  pty:slave`. */
export function parseDrivers(text: string): readonly TtyDriver[] {
  const drivers: TtyDriver[] = []
  for (const line of text.split('\n')) {
    const [, path = '', major = '', minors = ''] = line.trim().split(/\s+/)
    const [first = '', last = first] = minors.split('-')
    if (path.startsWith('/dev/') && /^\d+$/.test(major) && /^\d+$/.test(first))
      drivers.push({ base: path.slice(5), major: Number(major), first: Number(first), last: Number(last) })
  }
  return drivers
}

/** Names terminals below /dev of `root`. */
export class TtyNames {
  readonly #root: string
  #drivers: readonly TtyDriver[] | undefined

  constructor(root: string) {
    this.#root = root
  }

  /** Returns the terminal without /dev/; a question mark for none or an unknown one. */
  nameOf(tty: number): string {
    if (!(tty > 0)) return '?'
    const major = (tty >>> 8) & 0xfff
    const minor = (tty & 0xff) | ((tty >>> 12) & 0xfff00)
    this.#drivers ??= parseDrivers(readAttribute(this.#root, '/proc/tty/drivers') ?? '')
    for (const driver of this.#drivers) {
      if (driver.major !== major || minor < driver.first || minor > driver.last) continue
      for (const name of candidates(driver, minor)) if (this.#isDevice(name, tty)) return name
    }
    return '?'
  }

  /** A fixture tree has regular files instead of devices. */
  #isDevice(name: string, tty: number): boolean {
    const found = lstatSync(rooted(this.#root, `/dev/${name}`), { throwIfNoEntry: false })
    return found !== undefined && (!found.isCharacterDevice() || found.rdev === tty)
  }
}

/** A single device has the base name; of several, the number counts from the first, but is the minor number for consoles. */
function candidates({ base, first, last }: TtyDriver, minor: number): readonly string[] {
  const numbered = [`${base}/${minor - first}`, `${base}${minor - first}`, `${base}${minor}`]
  return first === last ? [...numbered.slice(1, 2), base] : numbered
}

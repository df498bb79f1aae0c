/** kernel.all.nusers, nroots and nsessions. utmp(5) */
import { decodeText } from '../../base/text.ts'
import { Reading } from '../../pmda/reading.ts'
import type { PlacedRow } from '../lib/name-order.ts'
import type { LinuxContext } from './context.ts'

/**
 * One record of utmp:
 *
 *     0  type (16 bits)   4  pid   8  line[32]   40  id[4]   44  user[32]   76  host[256]   332 ... 384 or 400
 */
const RECORD_SIZE = 384
/** Newer architectures have a wider session number and time stamp in it. */
const WIDE_RECORD_SIZE = 400
const WIDE: ReadonlySet<string> = new Set(['arm64', 'riscv64', 'loong64'])
const USER_AT = 44
const USER_SIZE = 32
/** Type of a record for somebody who is logged in. */
const USER_PROCESS = 7

/** Who is logged in. */
export interface Logins {
  readonly users: number
  readonly roots: number
  /** Records of any kind: boot, terminals waiting for a login, ended sessions. */
  readonly records: number
}

/**
 * Counts the records of a utmp file, as this architecture writes it. An incomplete one at the end does not count, nor a
 * login of nobody, as in PCP 6.0.3.
 */
export function parseUtmp(bytes: Uint8Array, arch: string = process.arch): Logins {
  const size = WIDE.has(arch) ? WIDE_RECORD_SIZE : RECORD_SIZE
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let users = 0
  let roots = 0
  let records = 0
  for (let at = 0; at + size <= bytes.length; at += size) {
    const name = decodeText(bytes, at + USER_AT, at + USER_AT + USER_SIZE).split('\0', 1)[0]!
    const isLogin = view.getInt16(at, true) === USER_PROCESS
    if (isLogin && name === '') continue
    records++
    if (isLogin) users++
    if (isLogin && name === 'root') roots++
  }
  return { users, roots, records }
}

const NO_LOGINS: Logins = { users: 0, roots: 0, records: 0 }

/** The three counts of the login records. */
export function userMetrics(ctx: LinuxContext): { [name: string]: PlacedRow } {
  const path = '/run/utmp'
  const file = ctx.file(path)
  const logins = new Reading(() => {
    try {
      return parseUtmp(file.read())
    } catch (error) {
      // As for getutent(3): a system that keeps no such file has no records
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return NO_LOGINS
      throw error
    }
  })
  const from = { cluster: 25, type: 'u32', sem: 'instant', units: 'none', reading: logins } as const
  const caveat = 'A system without that file has none.'
  return {
    'kernel.all.nusers': {
      ...from,
      item: 0,
      help: 'How many logins are open; somebody with three terminals counts three times',
      text: `Records of type USER_PROCESS with a user name in ${path}. ${caveat}`,
      value: () => logins.value.users,
    },
    'kernel.all.nroots': {
      ...from,
      item: 1,
      help: 'How many of the open logins are those of the superuser',
      text: `Records of type USER_PROCESS in ${path} with the user name root; becoming root later, with su or sudo, does not count. ${caveat}`,
      value: () => logins.value.roots,
    },
    'kernel.all.nsessions': {
      ...from,
      item: 2,
      help: 'How many records the login accounting holds, of any type',
      text: `All records in ${path}: logins, terminals that wait for one, the boot time and sessions that ended; only logins without a user name are left out. ${caveat}`,
      value: () => logins.value.records,
    },
  }
}

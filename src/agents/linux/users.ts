/** kernel.all.nusers, nroots and nsessions. utmp(5) */
import { decodeText } from '../../base/text.ts'
import { Reading } from '../../pmda/reading.ts'
import type { OrderedRow } from '../lib/name-order.ts'
import type { LinuxContext } from './context.ts'

/**
 * One record of utmp:
 *
 *     0  type (16 bits)   4  pid   8  line[32]   40  id[4]   44  user[32]   76  host[256]   332 ... 384 or 400
 */
const RECORD_SIZE = 384
/** Architectures with a wider session number and time stamp. */
const WIDE_RECORD_SIZE = 400
const WIDE: ReadonlySet<string> = new Set(['arm64', 'riscv64', 'loong64'])
const USER_AT = 44
const USER_SIZE = 32
/** Type of a login record. */
const USER_PROCESS = 7

/** Number of logins. */
export interface Logins {
  readonly users: number
  readonly roots: number
  /** Records of any type: boot, terminals waiting for a login, ended sessions. */
  readonly records: number
}

/**
 * Counts the records of a utmp file of this architecture. As in PCP 6.0.3 an incomplete record at the end and logins without
 * a user name are not counted.
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
export function userMetrics(ctx: LinuxContext): { [name: string]: OrderedRow } {
  const path = '/run/utmp'
  const file = ctx.file(path)
  const logins = new Reading(() => {
    try {
      return parseUtmp(file.read())
    } catch (error) {
      // As getutent(3): a system without the file has no records
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
      help: 'Number of logins; a user with three terminals is counted three times',
      text: `Records of type USER_PROCESS with a user name in ${path}. ${caveat}`,
      value: () => logins.value.users,
    },
    'kernel.all.nroots': {
      ...from,
      item: 1,
      help: 'Number of logins of the superuser',
      text: `Records of type USER_PROCESS in ${path} with the user name root; su and sudo are not counted. ${caveat}`,
      value: () => logins.value.roots,
    },
    'kernel.all.nsessions': {
      ...from,
      item: 2,
      help: 'Number of records of any type in the login accounting',
      text: `All records in ${path}: logins, terminals waiting for a login, the boot time and ended sessions, except logins without a user name. ${caveat}`,
      value: () => logins.value.records,
    },
  }
}

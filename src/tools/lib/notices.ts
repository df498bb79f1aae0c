/** The notices of a host: what was done to its collector and recorders, and when. pmpost(1) */
import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  mkdirSync,
  openSync,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { loggableMessage } from '../../base/printable.ts'
import { ctime } from '../../sys/log.ts'

/** The group of PCP's accounts may write, as every part of PCP does. */
const MODE = 0o664

/** Adds a line, and before the first of a day its date. `ms` is now. Throws Node's error. */
export function postNotice(path: string, message: string, ms: number): void {
  // Root posts into a directory of others: what they link there must not be written to.
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW
  mkdirSync(dirname(path), { recursive: true })
  const fd = openSync(path, flags, MODE)
  try {
    const { size, mtimeMs } = fstatSync(fd)
    if (size === 0) share(fd, path)
    const isNewDay = size === 0 || new Date(mtimeMs).toDateString() !== new Date(ms).toDateString()
    const date = isNewDay ? `\nDATE: ${ctime(ms)}\n` : ''
    const fraction = String(new Date(ms).getMilliseconds()).padStart(3, '0')
    writeSync(fd, `${date}${ctime(ms).slice(11, 19)}.${fraction} ${loggableMessage(message)}\n`) // one write: others post as well
  } finally {
    closeSync(fd)
  }
}

/** What root begins belongs to whom the directory belongs to: parts of PCP that are not root post as well. */
function share(fd: number, path: string): void {
  const { uid, gid } = statSync(dirname(path))
  if (process.geteuid?.() !== 0) return
  fchownSync(fd, uid, gid)
  fchmodSync(fd, MODE) // whatever the umask took away
}

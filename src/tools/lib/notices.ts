/** The host's notices file, a log of changes to its collector and loggers. pmpost(1) */
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

/** Writable by the group of PCP's accounts, as all parts of PCP post notices. */
const MODE = 0o664

/** Appends a line, preceded by the date for the first line of a day. `ms` is the current time. Throws Node's error. */
export function postNotice(path: string, message: string, ms: number): void {
  // Root posts in a directory of another user and must not follow a link made there.
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW
  mkdirSync(dirname(path), { recursive: true })
  const fd = openSync(path, flags, MODE)
  try {
    const { size, mtimeMs } = fstatSync(fd)
    if (size === 0) share(fd, path)
    const isNewDay = size === 0 || new Date(mtimeMs).toDateString() !== new Date(ms).toDateString()
    const date = isNewDay ? `\nDATE: ${ctime(ms)}\n` : ''
    const fraction = String(new Date(ms).getMilliseconds()).padStart(3, '0')
    writeSync(fd, `${date}${ctime(ms).slice(11, 19)}.${fraction} ${loggableMessage(message)}\n`) // a single write, as other processes append too
  } finally {
    closeSync(fd)
  }
}

/** Gives a new file to the owner of its directory, so unprivileged parts of PCP can post. */
function share(fd: number, path: string): void {
  const { uid, gid } = statSync(dirname(path))
  if (process.geteuid?.() !== 0) return
  fchownSync(fd, uid, gid)
  fchmodSync(fd, MODE) // independent of the umask
}

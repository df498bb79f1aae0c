/**
 * pmpost: add a line to the file of notices, PCP_LOG_DIR/NOTICES. pmpost(1)
 *
 *     DATE: Fri Nov 20 11:12:00 2026
 *     11:12:00.122 start pmcd from /etc/init.d/pmcd
 *
 * Unlike the reference it takes PCP_LOG_DIR from the environment as well.
 */
import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  openSync,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { PcpError } from '../model/errors.ts'
import { loadConfig } from '../sys/config.ts'
import { ctime } from '../sys/log.ts'
import type { Tool } from './lib/tool.ts'

/** The group of PCP's accounts may write, as every part of PCP does. */
const MODE = 0o664

/** Every argument is a part of the message, also those that look like options. */
export const tool: Tool = {
  name: 'pmpost',
  summary: 'Add a line to the notices of this host',
  description: `
Adds a line with the time of day to the file NOTICES in the directory of logs, and the date above it where that is another one.
Scripts that start and stop services note there what they did.`,
  examples: [['pmpost "moved the disks of db1"', 'A note for those who look at the values later:']],
  async run({ args, env, now, progname, stderr }) {
    if (args.length === 0 || args[0] === '-?') {
      stderr.write(`Usage: ${progname} message\n`)
      return 1
    }
    const path = join(loadConfig(env).variables['PCP_LOG_DIR']!, 'NOTICES')
    try {
      post(path, args.join(' '), now())
      return 0
    } catch (error) {
      stderr.write(`${PcpError.from(error, `${progname}: cannot post to ${path}`).message}\n`)
      return 1
    }
  },
}

/** Adds a line, and before the first of a day its date. */
function post(path: string, message: string, ms: number): void {
  // Root posts into a directory of others: what they link there must not be written to.
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW
  const fd = openSync(path, flags, MODE)
  try {
    const { size, mtimeMs } = fstatSync(fd)
    if (size === 0) share(fd, path)
    const isNewDay = size === 0 || new Date(mtimeMs).toDateString() !== new Date(ms).toDateString()
    const date = isNewDay ? `\nDATE: ${ctime(ms)}\n` : ''
    const fraction = String(new Date(ms).getMilliseconds()).padStart(3, '0')
    writeSync(fd, `${date}${ctime(ms).slice(11, 19)}.${fraction} ${message}\n`) // one write: others post as well
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

/** Daily work independent of directories: the stamp, the notices file, mail, and trace logs of earlier days. */
import {
  closeSync,
  existsSync,
  fchownSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { PcpError } from '../../model/errors.ts'
import type { Variables } from '../../sys/config.ts'
import { openNewFile } from '../../sys/new-file.ts'
import { dayName } from '../lib/admin/archive-names.ts'
import { mailArgs, sendMail } from '../lib/admin/mail.ts'
import { chownLike } from '../lib/admin/owner.ts'
import type { Reporter } from '../lib/admin/reporter.ts'
import type { ToolIo } from '../lib/tool.ts'
import type { Settings } from './settings.ts'

const DAY_MS = 86_400_000

/** Formats `2026-11-20 18:36:18` in the local time zone. */
function stampText(ms: number): string {
  const time = new Date(ms).toString().slice(16, 24)
  return `${dayName(ms).replace(/(....)(..)(..)/, '$1-$2-$3')} ${time}`
}

/** Returns whether today's work is done already. */
export function isDoneToday(logDir: string, io: ToolIo): boolean {
  const path = join(logDir, 'pmlogger_daily.stamp')
  if (!existsSync(path)) return false
  const seconds = Number(readFileSync(path, 'utf8').split('\n')[1])
  return dayName(seconds * 1000) === dayName(io.now())
}

/** Records that today's work is done. */
export function writeStamp(logDir: string, reporter: Reporter, io: ToolIo): void {
  const text = stampText(io.now())
  const seconds = Math.floor(io.now() / 1000)
  if (reporter.showsOnly) {
    reporter.show(`date-and-timestamp ${text} ${seconds}`)
    return
  }
  try {
    makeAnew(join(logDir, 'pmlogger_daily.stamp'), `# ${text}\n${seconds}\n`)
  } catch (error) {
    reporter.line(`Warning: cannot install new date-and-timestamp: ${PcpError.from(error).text}`)
  }
}

/** Creates a file owned by the directory's owner, even when run by root. May replace a file of root; never follows links. */
function makeAnew(path: string, text: string): void {
  const fd = openNewFile(path, 0o664)
  try {
    writeFileSync(fd, text)
    chownLike(dirname(path), (uid, gid) => fchownSync(fd, uid, gid))
  } finally {
    closeSync(fd)
  }
}

/** Rotates the notices file if it is large, and mails its contents if requested. */
export async function rotateNotices(
  settings: Settings,
  { variables, reporter, io }: { variables: Variables; reporter: Reporter; io: ToolIo },
): Promise<void> {
  const path = join(variables['PCP_LOG_DIR']!, 'NOTICES')
  const size = statSync(path, { throwIfNoEntry: false })?.size
  if (size === undefined) return
  try {
    if (settings.mailTo !== undefined) {
      const mail = { path, subject: `PCP NOTICES summary for ${hostname()}`, to: settings.mailTo }
      if (reporter.showsOnly) reporter.show(`mail ${mailArgs(mail).join(' ')} <${path}`)
      else sendMail(mail, variables)
    }
    if (size < settings.noticesBytes) return
    reporter.verbose(1, `Roll ${path} -> ${path}.old`)
    reporter.verbose(1, `Start new ${path}`)
    if (reporter.showsOnly) {
      reporter.show(`mv ${path} ${path}.old`)
      reporter.show(`touch ${path}`)
      return
    }
    renameSync(path, `${path}.old`)
    makeAnew(path, '')
  } catch (error) {
    reporter.line(`${io.progname}: Error: ${PcpError.from(error, 'cannot rotate the notices').message}`)
    reporter.fail()
  }
}

/** Returns the path of today's trace log (-t); removes logs older than the limit. */
export function traceLog(logDir: string, days: number, io: ToolIo): string {
  const now = io.now()
  if (existsSync(logDir))
    for (const name of readdirSync(logDir)) {
      const path = join(logDir, name)
      if (/^daily\.\d{8}\.\d\d\.\d\d\.trace$/.test(name) && now - statSync(path).mtimeMs > days * DAY_MS)
        rmSync(path)
    }
  const time = new Date(now).toString().slice(16, 21).replace(':', '.')
  return join(logDir, `daily.${dayName(now)}.${time}.trace`)
}

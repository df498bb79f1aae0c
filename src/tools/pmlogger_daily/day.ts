/** What is done once a day, whatever the directories: the stamp, the file of notices, mail, and traces of earlier days. */
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
import type { Voice } from '../lib/admin/voice.ts'
import type { ToolIo } from '../lib/tool.ts'
import type { Settings } from './settings.ts'

const DAY_MS = 86_400_000

/** `2026-11-20 18:36:18` in the local zone. */
function stampText(ms: number): string {
  const time = new Date(ms).toString().slice(16, 24)
  return `${dayName(ms).replace(/(....)(..)(..)/, '$1-$2-$3')} ${time}`
}

/** Was everything done today already? */
export function isDoneToday(logDir: string, io: ToolIo): boolean {
  const path = join(logDir, 'pmlogger_daily.stamp')
  if (!existsSync(path)) return false
  const seconds = Number(readFileSync(path, 'utf8').split('\n')[1])
  return dayName(seconds * 1000) === dayName(io.now())
}

/** Notes that it is done today. */
export function writeStamp(logDir: string, voice: Voice, io: ToolIo): void {
  const text = stampText(io.now())
  const seconds = Math.floor(io.now() / 1000)
  if (voice.showsOnly) {
    voice.show(`date-and-timestamp ${text} ${seconds}`)
    return
  }
  try {
    makeAnew(join(logDir, 'pmlogger_daily.stamp'), `# ${text}\n${seconds}\n`)
  } catch (error) {
    voice.line(`Warning: cannot install new date-and-timestamp: ${PcpError.from(error).text}`)
  }
}

/** A file of the directory's owner, whoever we are: it may replace one of root's, and root follows no link of others. */
function makeAnew(path: string, text: string): void {
  const fd = openNewFile(path, 0o664)
  try {
    writeFileSync(fd, text)
    chownLike(dirname(path), (uid, gid) => fchownSync(fd, uid, gid))
  } finally {
    closeSync(fd)
  }
}

/** Begins a new file of notices when the old one is large, and mails what is in it to who wants that. */
export async function tendNotices(
  settings: Settings,
  { variables, voice, io }: { variables: Variables; voice: Voice; io: ToolIo },
): Promise<void> {
  const path = join(variables['PCP_LOG_DIR']!, 'NOTICES')
  const size = statSync(path, { throwIfNoEntry: false })?.size
  if (size === undefined) return
  try {
    if (settings.mailTo !== undefined) {
      const mail = { path, subject: `PCP NOTICES summary for ${hostname()}`, to: settings.mailTo }
      if (voice.showsOnly) voice.show(`mail ${mailArgs(mail).join(' ')} <${path}`)
      else sendMail(mail, variables)
    }
    if (size < settings.noticesBytes) return
    voice.tell(1, `Roll ${path} -> ${path}.old`)
    voice.tell(1, `Start new ${path}`)
    if (voice.showsOnly) {
      voice.show(`mv ${path} ${path}.old`)
      voice.show(`touch ${path}`)
      return
    }
    renameSync(path, `${path}.old`)
    makeAnew(path, '')
  } catch (error) {
    voice.line(`${io.progname}: Error: ${PcpError.from(error, 'cannot tend the notices').message}`)
    voice.fail()
  }
}

/** Where what is said today is kept, with -t; older ones than the user wants go. */
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

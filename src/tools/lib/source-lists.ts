/** Files that list sources: hosts for -H, archives for --archive-folio. pmGetOptions(3), mkaf(1) */
import { readFileSync } from 'node:fs'
import { dirname, isAbsolute, resolve } from 'node:path'
import { PcpError } from '../../model/errors.ts'

const FOLIO_MAGIC = 'PCPFolio'
const FOLIO_VERSION = /^Version:\s*1\s*$/

/** The first word of every line that is no comment. An errno when the file cannot be read, with the message of PCP's commands. */
export function readHosts(file: string, cwd: string): string[] {
  return read(file, cwd, 'hosts file')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.split(/\s+/)[0]!)
}

/**
 * The archives of a folio; names in it are relative to where it is. An errno when it cannot be read, PM_ERR_GENERIC when it is
 * none, with the messages of PCP's commands.
 */
export function readFolio(file: string, cwd: string): string[] {
  const text = read(file, cwd, 'archive folio')
  const lines = text.split('\n')
  if (text === '') throw wrong(`archive folio ${file} has no header`)
  if (lines[0]!.trimEnd() !== FOLIO_MAGIC) throw wrong(`archive folio ${file} has bad magic`)
  if (!FOLIO_VERSION.test(lines[1] ?? '')) throw wrong(`unknown version archive folio ${file}`)
  return lines.flatMap((line, i) => {
    const [word, host, path] = line.split(/\s+/)
    if (word !== 'Archive:') return []
    if (host === undefined || host === '') throw wrong(`missing host on archive folio line ${i + 1}`)
    if (path === undefined || path === '') throw wrong(`missing path on archive folio line ${i + 1}`)
    return [isAbsolute(path) ? path : `${dirname(file)}/${path}`]
  })
}

function read(file: string, cwd: string, what: string): string {
  try {
    return readFileSync(resolve(cwd, file), 'utf8')
  } catch (error) {
    const { code, text } = PcpError.from(error)
    throw new PcpError(code, `cannot open ${what} ${file}: ${text}`, { cause: error })
  }
}

function wrong(message: string): PcpError {
  return new PcpError('PM_ERR_GENERIC', message)
}

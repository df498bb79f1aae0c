/** Files that list sources: hosts for -H, archives for --archive-folio. pmGetOptions(3), mkaf(1) */
import { readFileSync } from 'node:fs'
import { dirname, isAbsolute, resolve } from 'node:path'
import { PcpError } from '../../model/errors.ts'

const FOLIO_MAGIC = 'PCPFolio'
const FOLIO_VERSION = /^Version:\s*1\s*$/

/** Returns the first word of every line except comments. Throws an errno with PCP's message if the file cannot be read. */
export function readHosts(file: string, cwd: string): string[] {
  return read(file, cwd, 'hosts file')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.split(/\s+/)[0]!)
}

/**
 * Returns the archives of a folio, whose names are relative to its directory. Throws an errno if it cannot be read, or PM_ERR_GENERIC
 * if it is invalid, with PCP's messages.
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

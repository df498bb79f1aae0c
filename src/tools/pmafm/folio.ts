/** Folios: files that list archives. mkaf(1) */
import { readFileSync } from 'node:fs'
import { basename, dirname, isAbsolute, resolve } from 'node:path'
import { decodeText } from '../../base/text.ts'
import { PcpError } from '../../model/errors.ts'

/** An archive of a folio. */
export interface FolioEntry {
  readonly host: string
  /** As the folio names it, relative to where it is. */
  readonly base: string
  /** As commands find it. */
  readonly path: string
}

/** What a folio says. */
export interface Folio {
  /** As it was named, and without its folder. */
  readonly file: string
  readonly name: string
  /** The folder it is in with a slash behind it; '' for the working directory. */
  readonly folder: string
  /** The lines that say where it comes from. */
  readonly created: string | undefined
  readonly creator: string | undefined
  /** The command that made it, and its configuration. */
  readonly tool: string | undefined
  readonly config: string | undefined
  readonly entries: readonly FolioEntry[]
}

/** Reads a folio. An errno when it cannot be opened, PM_ERR_GENERIC for another file. */
export function readFolio(file: string, cwd: string): Folio {
  let text: string
  try {
    text = decodeText(readFileSync(resolve(cwd, file)))
  } catch (error) {
    const { code, text: why } = PcpError.from(error)
    throw new PcpError(code, `cannot open folio "${file}": ${why}`, { cause: error })
  }
  const lines = text.split('\n')
  if (lines[0] !== 'PCPFolio' || !lines[1]?.startsWith('Version:'))
    throw new PcpError('PM_ERR_GENERIC', `"${file}" is not in PCP archive folio format`)
  const here = resolve(cwd, dirname(file))
  const folder = here === resolve(cwd) ? '' : `${here.replace(/\/$/, '')}/`
  const lineOf = (word: string): string | undefined => lines.find((line) => line.startsWith(word))
  const [, tool, config] = lineOf('Creator:')?.split(/\s+/) ?? []
  const entries: FolioEntry[] = []
  for (const line of lines) {
    const [word, host, base] = line.split(/\s+/)
    if (word !== 'Archive:' || host === undefined || base === undefined || base === '') continue
    entries.push({ host, base, path: isAbsolute(base) ? base : folder + base })
  }
  return {
    file,
    name: basename(file),
    folder,
    created: lineOf('Created:'),
    creator: lineOf('Creator:'),
    tool,
    config,
    entries,
  }
}

/** Folios: files that list archives. mkaf(1) */
import { readFileSync } from 'node:fs'
import { basename, dirname, isAbsolute, resolve } from 'node:path'
import { decodeText } from '../../base/text.ts'
import { PcpError } from '../../model/errors.ts'

/** An archive of a folio. */
export interface FolioEntry {
  readonly host: string
  /** As named in the folio, relative to its folder. */
  readonly base: string
  /** Path for commands. */
  readonly path: string
}

/** Contents of a folio. */
export interface Folio {
  /** As named by the user; `name` is without the folder. */
  readonly file: string
  readonly name: string
  /** Its folder with a trailing slash; '' for the working directory. */
  readonly folder: string
  /** When and by which program it was created. */
  readonly created: string | undefined
  readonly creator: string | undefined
  /** The command that recorded it, and its configuration. */
  readonly tool: string | undefined
  readonly config: string | undefined
  readonly entries: readonly FolioEntry[]
}

/** Reads a folio. Throws an errno if it cannot be opened, PM_ERR_GENERIC if the file is not a folio. */
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

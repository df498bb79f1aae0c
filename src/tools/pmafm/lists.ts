/** Lists and checks of a folio's archives. pmafm(1) */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { Archive } from '../../archive/archive.ts'
import { decodeText } from '../../base/text.ts'
import { PcpError } from '../../model/errors.ts'
import { archiveFiles } from '../../sys/archive-files.ts'
import { partsOf } from '../lib/archive-input.ts'
import type { Output, ToolIo } from '../lib/tool.ts'
import type { Folio, FolioEntry } from './folio.ts'
import type { Selection } from './selection.ts'

/** Prints a table of the archives, in verbose mode with labels, then the selection. */
export async function list(
  folio: Folio,
  selection: Selection,
  isVerbose: boolean,
  io: ToolIo,
): Promise<number> {
  const { stdout } = io
  const { name, folder, created, creator, entries } = folio
  const head = [`PCP Archive Folio: ${name}`, ...(folder === '' ? [] : [`Folio Directory: ${folder}`])]
  const from = [created, creator].filter((line) => line !== undefined)
  stdout.write(`\n${[...head, ...from].join('\n')}\n\nOrdinal Hostname             Archive Basename\n`)
  let status = 0
  for (const [i, { host, base, path }] of entries.entries()) {
    stdout.write(`  [${String(i + 1).padStart(3)}] ${host.padEnd(20)} ${base}\n`)
    if (isVerbose && !(await writeLabel(path, io))) status = 1
  }
  if (selection.hosts.length > 0) stdout.write(`Host Selections: ${selection.hosts.join(' ')}\n`)
  if (selection.archives.length > 0) stdout.write(`Archive Selections: ${selection.archives.join(' ')}\n`)
  return status
}

/** Prints a label like pmdumplog. */
async function writeLabel(path: string, io: ToolIo): Promise<boolean> {
  const entry = (await io.commands?.())?.find(({ name }) => name === 'pmdumplog')
  if (entry === undefined) return false
  let text = ''
  const write = (more: string): void => {
    text += more
  }
  const stdout: Output = {
    write,
    writeControls: write,
    writeBytes: (bytes) => {
      text += decodeText(bytes)
    },
    flush: async () => {},
    isTerminal: false,
  }
  try {
    const tool = await entry.load()
    return (await tool.run({ ...io, progname: entry.name, args: ['-l', path], stdout })) === 0
  } catch (error) {
    io.stderr.write(`${entry.name}: ${PcpError.from(error).message}\n`)
    return false
  } finally {
    io.stdout.write(text.replace(/^(?=.)/gm, '\t'))
  }
}

/** Checks that each archive's files exist and are of the host named in the folio. */
export function check({ entries }: Folio, io: ToolIo): number {
  let status = 0
  for (const entry of entries) {
    const errors = errorsOf(entry, io)
    io.stdout.write(`Archive: ${entry.path} ... ${errors.length === 0 ? 'OK' : 'Errors'}\n`)
    for (const error of errors) io.stdout.write(`\t${error}\n`)
    if (errors.length > 0) status = 1
  }
  return status
}

function errorsOf({ host, path }: FolioEntry, { cwd }: ToolIo): string[] {
  const parts = partsOf(resolve(cwd, path), archiveFiles())
  const missing = [
    ...(parts.some(({ part }) => typeof part === 'number') ? [] : [`${path}.0`]),
    ...(['meta', 'index'] as const)
      .filter((part) => !parts.some((each) => each.part === part))
      .map((part) => `${path}.${part}`),
  ]
  if (missing.length > 0) return missing.map((file) => `No such file: ${file}`)
  try {
    const archive = Archive.open(resolve(cwd, path), archiveFiles())
    const { hostname } = archive.label
    archive.close()
    return hostname === host ? [] : [`Hostname mismatch: folio=${host} archive=${hostname}`]
  } catch (error) {
    return [`${PcpError.from(error).text}: ${path}`]
  }
}

/** Returns a shell command that removes the folio and all files of its archives. */
export function removeLine({ file, name, folder, config, entries }: Folio, cwd: string): string {
  const files = [folder === '' ? file : name, ...(config === undefined || config === '' ? [] : [config])]
  for (const { base, path } of entries) {
    const recorder = ['.log', '.config'].filter((end) => existsSync(resolve(cwd, path + end)))
    const parts = partsOf(resolve(cwd, path), archiveFiles())
    const ends = [...parts]
      .sort((a, b) => rank(a.part) - rank(b.part))
      .map((part) => part.path.slice(resolve(cwd, path).length))
    files.push(...[...recorder, ...ends].map((end) => base + end))
  }
  const words = files.map(shellWord)
  return folder === '' ? `rm -f ${words.join(' ')}` : `( cd ${shellWord(folder)}; rm -f ${words.join(' ')} )`
}

function rank(part: 'meta' | 'index' | number): number {
  return part === 'meta' ? -2 : part === 'index' ? -1 : part
}

function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

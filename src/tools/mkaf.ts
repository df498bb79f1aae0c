/**
 * mkaf: creates a folio of archives. mkaf(1)
 *
 * Searches directories itself; of find's options it knows -follow, -name and -maxdepth. Unlike 6.0.3, it takes the word after -name as
 * the pattern, and rejects other options.
 */
import { closeSync, openSync, readdirSync, readSync, statSync } from 'node:fs'
import { hostname } from 'node:os'
import { join, resolve } from 'node:path'
import { Archive } from '../archive/archive.ts'
import { parseFileName } from '../archive/file-names.ts'
import { matchesGlob } from '../base/glob.ts'
import { PcpError } from '../model/errors.ts'
import { archiveFiles } from '../sys/archive-files.ts'
import { strftime } from '../time/strftime.ts'
import type { OptionTable } from './lib/options.ts'
import type { Tool, ToolIo } from './lib/tool.ts'
import { processTimeZone } from './lib/zone.ts'

const OPTIONS: OptionTable = { synopsis: '[findopts] filename ...', operands: 'file', rows: [] }
const USAGE_STATUS = 1

/** Lists archives and their hosts on standard output. */
export const tool: Tool = {
  name: 'mkaf',
  summary: 'Create a folio of archives',
  description: `
A folio is a file that lists archives, for pmafm and for the option --archive-folio. Each operand is a file of an archive, or a
directory to search for archives recursively. -name PATTERN selects files by name, -maxdepth N limits the depth of the search to N
directories; symbolic links are followed.`,
  examples: [
    ['mkaf /var/log/pcp/pmlogger/db1 > db1.folio', 'All archives of a host:'],
    ["mkaf -name '202611*' . > november.folio", 'The archives of a month:'],
  ],
  seeAlso: ['pmafm'],
  options: OPTIONS,
  async run(io) {
    const { search, operands } = parseArguments(io.args)
    if (search === undefined || operands.length === 0) {
      io.stderr.write(`Usage: ${io.progname} ${OPTIONS.synopsis}\n`)
      return USAGE_STATUS
    }
    const bases = new Set<string>()
    for (const operand of operands) addOperand(operand, search, bases, io)
    const lines = [...bases].sort().flatMap((base) => entryOf(base, io))
    if (lines.length === 0) {
      io.stderr.write(`${io.progname}: Warning: no PCP archives found, so no folio created\n`)
      return 1
    }
    const date = strftime('%a %b %e %H:%M:%S %Z %Y', Math.floor(io.now() / 1000), processTimeZone(io))
    io.stdout.write(
      `PCPFolio\nVersion: 1\n# use pmafm(1) to process this PCP archive folio\n#\nCreated: on ${hostname()} at ${date}\n` +
        `Creator: pmchart\n# \t\tHost\t\t\tBasename\n#\n${lines.join('')}`,
    )
    return 0
  },
}

/** How to search directories. */
interface Search {
  /** As given. */
  readonly text: string
  readonly name: string | undefined
  readonly depth: number
}

function parseArguments(args: readonly string[]): {
  readonly search: Search | undefined
  readonly operands: readonly string[]
} {
  const operands: string[] = []
  const words: string[] = []
  let search: Omit<Search, 'text'> = { name: undefined, depth: Number.POSITIVE_INFINITY }
  for (let i = 0; i < args.length; i++) {
    const arg = args[i]!
    if (!arg.startsWith('-')) {
      operands.push(arg)
      continue
    }
    const value = arg === '-name' || arg === '-maxdepth' ? args[++i] : ''
    if (value === undefined) return { search: undefined, operands }
    if (arg === '-name') search = { ...search, name: value }
    else if (arg === '-maxdepth' && /^\d+$/.test(value)) search = { ...search, depth: Number(value) }
    else if (arg === '-?' || arg === '--help') return { search: undefined, operands }
    else if (arg !== '-follow')
      throw new PcpError(
        'EINVAL',
        `${arg} ${value}: unsupported option of find: use -follow, -name PATTERN or -maxdepth N`,
      )
    words.push(value === '' ? arg : `${arg} ${value}`)
  }
  return { search: { ...search, text: words.join(' ') || '-follow' }, operands }
}

function addOperand(operand: string, search: Search, bases: Set<string>, io: ToolIo): void {
  const path = resolve(io.cwd, operand)
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined) io.stderr.write(`${io.progname}: ${operand}: No such file\n`)
  else if (stat.isDirectory()) {
    io.stderr.write(`Searching "find ${operand} ${search.text} ..." `)
    walk(operand, 1, new Set())
    io.stderr.write(' done\n')
  } else if (!add(operand)) io.stderr.write(`${io.progname}: ${operand}: Not a PCP archive file\n`)

  function add(name: string): boolean {
    const parsed = parseFileName(name)
    if (parsed === undefined || (parsed.suffix === '' && !hasMagic(resolve(io.cwd, name)))) return false
    bases.add(parsed.base)
    return true
  }

  /** `above` holds the parent directories, to detect loops of symbolic links. */
  function walk(folder: string, depth: number, above: ReadonlySet<string>): void {
    if (depth > search.depth) return
    const here = statSync(resolve(io.cwd, folder))
    const id = `${here.dev}:${here.ino}`
    if (above.has(id)) return
    for (const name of namesIn(resolve(io.cwd, folder), io)) {
      const file = folder.endsWith('/') ? `${folder}${name}` : `${folder}/${name}`
      const found = statSync(resolve(io.cwd, file), { throwIfNoEntry: false })
      if (found?.isDirectory() === true) walk(file, depth + 1, new Set([...above, id]))
      else if (found?.isFile() === true && (search.name === undefined || matchesGlob(search.name, name)))
        add(file)
    }
  }
}

function namesIn(folder: string, io: ToolIo): readonly string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    io.stderr.write(`${io.progname}: ${join(folder)}: ${PcpError.from(error).text}\n`)
    return []
  }
}

/** Offset of the label's magic number, after the record length. */
const MAGIC_AT = 4
const MAGICS: readonly number[] = [0x50052602, 0x50052603]

/** Returns whether a file begins with an archive label. */
function hasMagic(path: string): boolean {
  const bytes = new Uint8Array(8)
  try {
    const fd = openSync(path, 'r')
    try {
      readSync(fd, bytes, 0, bytes.length, 0)
    } finally {
      closeSync(fd)
    }
  } catch {
    return false // unreadable files are not listed
  }
  return MAGICS.includes(new DataView(bytes.buffer).getUint32(MAGIC_AT))
}

function entryOf(base: string, io: ToolIo): string[] {
  try {
    const archive = Archive.open(resolve(io.cwd, base), archiveFiles())
    const host = archive.label.hostname
    archive.close()
    return [`${'Archive:'.padEnd(16)}${host.padEnd(23)} ${base}\n`]
  } catch (error) {
    if (!(error instanceof Error)) throw error
    io.stderr.write(`${io.progname}: Warning: cannot extract hostname from archive "${base}" ... skipped\n`)
    return []
  }
}

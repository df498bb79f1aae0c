/**
 * newhelp: builds the help files of an agent from their source. newhelp(1), docs/formats/help.md
 *
 * Unlike the reference, it detects duplicate keys, rejects numbers outside PMIDs and instance domains, counts the lines of each file
 * from 1, reports a truncated entry once, and writes nothing if a file cannot be read.
 */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Outcome, PcpError } from '../model/errors.ts'
import { isDynamicRoot, type Pmid } from '../model/ids.ts'
import { encodeHelp } from '../pmda/help-file.ts'
import { type HelpEntry, type HelpProblem, parseHelpSource } from '../pmda/help-source.ts'
import type { Pmns } from '../pmns/tree.ts'
import { defaultPmnsPath } from '../sys/pmns-files.ts'
import { replaceFile } from '../sys/replace-file.ts'
import { readAll } from './lib/input.ts'
import {
  HELP_ROW,
  handleEarlyExit,
  type OptionTable,
  type ParsedOptions,
  parseOptions,
  usageText,
} from './lib/options.ts'
import { loadOrReport, variablesOf } from './lib/pmns-edit.ts'
import type { Tool, ToolIo } from './lib/tool.ts'

const OPTIONS: OptionTable = {
  synopsis: '[options] [file ...]',
  rows: [
    { heading: 'General options' },
    { short: 'n', long: 'namespace', arg: 'FILE', help: 'read metric names from FILE' },
    HELP_ROW,
    { heading: 'Output options' },
    { short: 'o', long: 'output', arg: 'FILE', help: 'write FILE.dir and FILE.pag' },
    { short: 'V', long: 'verbose', help: 'list each entry, and report empty ones' },
    { short: 'v', long: 'version', arg: 'N', help: 'version of the files; only 2 is supported' },
    { short: 'D', arg: 'NAMES', kind: 'debug' },
  ],
}

/** Exit statuses for warnings and errors. */
const STATUS = { warning: 1, error: 2 } as const

/** Creates NAME.dir and NAME.pag, from which agents read help texts. */
export const tool: Tool = {
  name: 'newhelp',
  summary: 'Build the help files of an agent',
  description: `
Reads sources of help texts, or standard input, and writes the two files from which agents read help texts. In a source, a line
that begins with @ starts an entry: a metric, by name or PMID, or an instance domain, then the one-line text. The lines up to the
next entry are its full text. Lines that begin with # are comments.

Without -o the files are named after the first source.`,
  examples: [
    ['newhelp -n root -o help help', 'Build help.dir and help.pag with the names in the file root:'],
  ],
  exitStatus: [
    [1, 'An entry was truncated or is empty, or the command line is wrong.'],
    [2, 'An entry was left out, or nothing could be written.'],
  ],
  seeAlso: ['chkhelp', 'pmnsadd', 'dbpmda'],
  options: OPTIONS,
  async run(io) {
    const parsed = parseOptions(OPTIONS, io)
    const status = handleEarlyExit(OPTIONS, parsed, io)
    if (status !== undefined) return parsed.problems.length > 0 ? STATUS.error : status
    return (await make(parsed, io)) ?? 0
  },
}

async function make({ given, operands }: ParsedOptions, io: ToolIo): Promise<number> {
  const last = (name: string): string | undefined => given.findLast((option) => option.name === name)?.value
  const version = last('v')
  if (version !== undefined && !/^\d+$/.test(version))
    io.stderr.write(`${io.progname}: -v requires numeric argument\n`)
  if (version !== undefined && Number(version) !== 2) {
    io.stderr.write(`${io.progname}: deprecated option - only version 2 is supported\n`)
    io.stderr.write(usageText(OPTIONS, io.progname))
    return STATUS.error
  }
  const base = last('o') ?? operands[0]
  if (base === undefined) {
    io.stderr.write(
      `${io.progname}: need either a -o option or a filename argument to name the output file\n`,
    )
    return STATUS.error
  }
  const pmns = loadOrReport(last('n') ?? defaultPmnsPath(variablesOf(io)), io)
  if (pmns === undefined) return STATUS.error
  const isVerbose = last('V') !== undefined
  const entries: HelpEntry[] = []
  let status = 0
  for (const file of operands.length === 0 ? ['-'] : operands) {
    const text = await read(file, operands.length === 0, io)
    if (text === undefined) return STATUS.error
    const source = parseHelpSource(text, {
      pmidOf: (name) => pmidOf(name, pmns),
      warnsOfNull: isVerbose,
      earlier: entries,
      report: (problem) => {
        report(problem, operands.length === 0 ? '<stdin>' : file, io)
        status = Math.max(status, STATUS[problem.severity])
      },
      ...(isVerbose ? { onEntry: (name: string) => io.stderr.write(`${name}\n`) } : {}),
    })
    entries.push(...source)
  }
  return write(base, entries, io) ? status : STATUS.error
}

function pmidOf(name: string, pmns: Pmns): Outcome<Pmid> {
  const id = pmns.lookup(name)
  // Only its agent knows the names below a dynamic root.
  return typeof id === 'number' && isDynamicRoot(id) ? new PcpError('PM_ERR_NAME') : id
}

async function read(file: string, isStdin: boolean, io: ToolIo): Promise<string | undefined> {
  if (isStdin) return Buffer.from(await readAll(io.stdin)).toString('latin1')
  try {
    return readFileSync(resolve(io.cwd, file), 'latin1')
  } catch (error) {
    io.stderr.write(`${file}: ${PcpError.from(error).text}\n`)
    return undefined
  }
}

function report({ line, text, after }: HelpProblem, file: string, io: ToolIo): void {
  io.stderr.write(`${io.progname}: [${file}:${line}] ${text}\n${after === undefined ? '' : `${after}\n`}`)
}

/** Writes both files or neither. Texts go first, because the table points into them. */
function write(base: string, entries: readonly HelpEntry[], io: ToolIo): boolean {
  const files = encodeHelp(entries)
  for (const part of ['pag', 'dir'] as const) {
    try {
      replaceFile(resolve(io.cwd, `${base}.${part}`), files[part], { keepMode: true })
    } catch (error) {
      io.stderr.write(`${io.progname}: fopen("${base}.${part}", ...) failed: ${PcpError.from(error).text}\n`)
      return false
    }
  }
  return true
}

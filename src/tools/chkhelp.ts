/**
 * chkhelp: checks and prints the help files of an agent. chkhelp(1), docs/formats/help.md
 *
 * Unlike the reference, it reports where a file is damaged and then exits with status 1.
 */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { type ErrorCode, PcpError } from '../model/errors.ts'
import { indomStr, pmidStr } from '../model/ids.ts'
import { HelpFile } from '../pmda/help-file.ts'
import type { Pmns } from '../pmns/tree.ts'
import { defaultPmnsPath } from '../sys/pmns-files.ts'
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
  synopsis: '[options] helpfile [metricname ...]',
  operands: 'metric',
  rows: [
    { heading: 'Options' },
    { short: 'e', help: 'only list metrics without a text' },
    { short: 'H', help: 'print the full texts' },
    { short: 'i', help: 'print the texts of every instance domain' },
    { short: 'n', arg: 'FILE', help: 'read metric names from FILE' },
    { short: 'O', help: 'print the one-line texts (default)' },
    { short: 'p', help: 'print the texts of every metric' },
    { short: 'v', arg: 'N', help: 'version of the files; only 2 is supported' },
    { short: 'D', arg: 'NAMES', kind: 'debug' },
    HELP_ROW,
  ],
}

/** Checks a pair of help files and prints their entries. */
export const tool: Tool = {
  name: 'chkhelp',
  summary: 'Check the help files of an agent',
  description: `
Reads the files made by newhelp, helpfile.dir and helpfile.pag. Without options it only checks that they are intact. Otherwise it
prints the texts of the named metrics, of every metric (-p) or of every instance domain (-i).`,
  examples: [['chkhelp -e help', 'List metrics of the name space without a help text:']],
  seeAlso: ['newhelp', 'pminfo'],
  options: OPTIONS,
  async run(io) {
    const parsed = parseOptions(OPTIONS, io)
    const { operands, problems } = parsed
    if (problems.length === 0) problems.push(...mistakesOf(parsed))
    const status = handleEarlyExit(OPTIONS, parsed, io)
    if (status !== undefined) return status
    const version = lastOf(parsed, 'v')
    if (version !== undefined && Number(version) !== 2) {
      io.stderr.write(`${io.progname}: deprecated option - only version 2 is supported\n`)
      io.stderr.write(usageText(OPTIONS, io.progname))
      return 1
    }
    const pmns = loadOrReport(lastOf(parsed, 'n') ?? defaultPmnsPath(variablesOf(io)), io)
    if (pmns === undefined) return 1
    const help = open(operands[0]!, io)
    if (help === undefined) return 1
    print(help, pmns, parsed, io)
    return 0
  },
}

function lastOf({ given }: ParsedOptions, name: string): string | undefined {
  return given.findLast((option) => option.name === name)?.value
}

function mistakesOf(parsed: ParsedOptions): readonly string[] {
  const has = (name: string): boolean => lastOf(parsed, name) !== undefined
  const [file, ...metrics] = parsed.operands
  if (has('?')) return []
  if (file === undefined) return ['missing helpfile argument\n']
  const isAll = has('i') || has('p')
  if (has('e') && isAll) return ['-e cannot be used with -i or -p\n']
  if (isAll && metrics.length > 0) return ['metricname arguments cannot be used with -i or -p\n']
  if ((has('O') || has('H')) && !isAll && metrics.length === 0 && !has('e'))
    return ['-O or -H require metricname arguments or -i or -p\n']
  return []
}

/** Opens the files; prints errors. */
function open(base: string, io: ToolIo): HelpFile | undefined {
  try {
    const path = resolve(io.cwd, base)
    return new HelpFile({ dir: readFileSync(`${path}.dir`), pag: readFileSync(`${path}.pag`) })
  } catch (error) {
    const known = PcpError.from(error)
    const why = known.code === ('PM_ERR_CONV' satisfies ErrorCode) ? known.message : known.text
    io.stderr.write(`pmdaOpenHelp: failed to open "${base}": ${why}\n`)
    return undefined
  }
}

function print(help: HelpFile, pmns: Pmns, parsed: ParsedOptions, io: ToolIo): void {
  const has = (name: string): boolean => lastOf(parsed, name) !== undefined
  const metrics = parsed.operands.slice(1)
  const levels: Levels = { oneline: has('O') || !has('H'), help: has('H') }
  if (has('e')) {
    listMissing(help, pmns, metrics.length === 0 ? [''] : metrics, io)
    return
  }
  for (const name of metrics) {
    const id = pmns.lookup(name)
    if (id instanceof PcpError) io.stdout.write(`\n${name}: ${id.text}\n`)
    else io.stdout.write(texts(`PMID ${pmidStr(id)} ${name}`, help.find('metric', id), levels))
  }
  for (const record of help.records) {
    const { kind, id } = record
    if (!has(kind === 'metric' ? 'p' : 'i')) continue
    const names = kind === 'metric' ? pmns.namesOf(id).join(' or ') : ''
    const title = kind === 'metric' ? `PMID ${pmidStr(id)}` : `InDom ${indomStr(id)}`
    io.stdout.write(texts(names === '' ? title : `${title} ${names}`, record, levels))
  }
}

interface Levels {
  readonly oneline: boolean
  readonly help: boolean
}

/** Formats the full text below the one-line text or the title. */
function texts(
  title: string,
  record: { readonly oneline: string; readonly help: string } | undefined,
  { oneline, help }: Levels,
): string {
  let text = `\n${title}:`
  if (oneline) text += ` ${textOr(record?.oneline, 'one line')}\n`
  if (help) text += `${textOr(record?.help, 'full text')}\n`
  return text
}

function textOr(text: string | undefined, what: 'one line' | 'full text'): string {
  if (text === undefined) return `<empty ${what} string>`
  return text !== '' ? text : `<no ${what} available>`
}

/** Lists metrics without any text below these names. */
function listMissing(help: HelpFile, pmns: Pmns, roots: readonly string[], io: ToolIo): void {
  for (const root of roots) {
    if (!pmns.has(root)) {
      io.stderr.write(`${io.progname}: ${root}: ${new PcpError('PM_ERR_NAME').text}\n`)
      continue
    }
    pmns.walk(root, (name, id) => {
      if (help.find('metric', id) === undefined) io.stdout.write(`${name}\n`)
    })
  }
}

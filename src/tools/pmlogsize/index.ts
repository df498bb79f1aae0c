/** pmlogsize: shows the space each kind of content takes in an archive. pmlogsize(1) */
import { statSync } from 'node:fs'
import { Archive } from '../../archive/archive.ts'
import { parseFileName } from '../../archive/file-names.ts'
import type { ArchiveFiles } from '../../base/byte-source.ts'
import { PcpError } from '../../model/errors.ts'
import { indomStr, pmidStr } from '../../model/ids.ts'
import { archiveFiles } from '../../sys/archive-files.ts'
import { baseOf, partsOf } from '../lib/archive-input.ts'
import { HELP_ROW, handleEarlyExit, type OptionTable, parseOptions, usageText } from '../lib/options.ts'
import type { Tool, ToolIo } from '../lib/tool.ts'
import { type ContentClass, fileUsage, type ItemUsage } from './usage.ts'

const OPTIONS: OptionTable = {
  synopsis: '[options] archive',
  rows: [
    { heading: 'Options' },
    { short: 'd', long: 'detail', help: 'show each metric and each instance domain' },
    { short: 'r', long: 'replication', help: 'like -d, and count repeated values' },
    { short: 'v', long: 'verbose', help: 'print progress' },
    { short: 'x', long: 'threshold', arg: 'PCT', help: 'limit details to PCT percent of the total' },
    HELP_ROW,
  ],
}

/** Settings from the command line. */
interface SizeOptions {
  readonly detail: boolean
  readonly duplicates: boolean
  readonly verbose: boolean
  readonly threshold: number
}

/** Shows sizes. Exits with status 1 for a missing or damaged archive. */
export const tool: Tool = {
  name: 'pmlogsize',
  summary: 'Show the space used by the contents of an archive',
  options: OPTIONS,
  async run(io) {
    const parsed = parseOptions(OPTIONS, io)
    const has = (letter: string): boolean => parsed.given.some(({ name }) => name === letter)
    const threshold = parsed.given.findLast(({ name }) => name === 'x')?.value
    const status = handleEarlyExit(OPTIONS, parsed, io)
    if (status !== undefined) return status
    if (threshold !== undefined && !isPercentage(threshold)) {
      io.stderr.write(`Bad arg for -x (${threshold}): should be between 1 and 100\n`)
      return 1
    }
    if (parsed.operands.length === 0) {
      io.stderr.write(`Error: no archive specified\n\n${usageText(OPTIONS, io.progname)}`)
      return 1
    }
    const wanted: SizeOptions = {
      detail: has('d') || has('r'),
      duplicates: has('r'),
      verbose: has('v'),
      threshold: threshold === undefined ? 100 : Number(threshold),
    }
    const files = archiveFiles()
    let isGood = true
    for (const name of parsed.operands) if (!showAll(name, wanted, files, io)) isGood = false
    return isGood ? 0 : 1
  },
}

function isPercentage(text: string): boolean {
  return /^\d+(\.\d+)?$/.test(text) && Number(text) >= 1 && Number(text) <= 100
}

/** Shows the named file, or all files of the named archive. */
function showAll(name: string, wanted: SizeOptions, files: ArchiveFiles, io: ToolIo): boolean {
  const base = baseOf(name, files)
  const parts = partsOf(base, files)
  const one = base === name ? undefined : parts.find(({ path }) => path === name.replace(/^(?:\.\/+)+/, ''))
  if (parts.length === 0) {
    io.stderr.write(`Error: no PCP archive files match "${name}"\n`)
    return false
  }
  const names = wanted.detail ? namesIn(base, files) : () => []
  let isGood = true
  for (const { path } of one === undefined ? parts : [one]) {
    if (wanted.verbose) io.stderr.write(`${path}: reading\n`)
    try {
      showFile(path, wanted, names, files, io)
    } catch (error) {
      io.stderr.write(`${io.progname}: ${path}: ${PcpError.from(error).text}\n`)
      isGood = false
    }
  }
  return isGood
}

type NamesOf = (pmid: number) => readonly string[]

/** Returns a function for all names of a metric; without names if the archive cannot be opened. */
function namesIn(base: string, files: ArchiveFiles): NamesOf {
  try {
    const archive = Archive.open(base, files)
    archive.close()
    return (pmid) => archive.metadata.names.namesOf(pmid)
  } catch (error) {
    if (error instanceof PcpError) return () => []
    throw error
  }
}

function showFile(
  path: string,
  wanted: SizeOptions,
  namesOf: NamesOf,
  files: ArchiveFiles,
  io: ToolIo,
): void {
  const parsed = parseFileName(path)!
  const source = files.open(path)
  const { size, classes } = fileUsage(source, { part: parsed.part, path, duplicates: wanted.duplicates })
  source.close()
  const stored = parsed.suffix === '' ? size : statSync(path).size
  const saved = percent(size - stored, size)
  const note = parsed.suffix === '' ? '' : ` [compression reduces size below by about ${saved}%]`
  io.stdout.write(`${path}:${note}\n`)
  let overhead = size
  for (const content of classes) {
    overhead -= content.bytes
    io.stdout.write(
      `  ${content.name}: ${content.bytes} bytes [${percent(content.bytes, size)}%, ${counts(content, wanted)}]\n`,
    )
    if (wanted.detail) showShares(content, size, wanted, namesOf, io)
  }
  io.stdout.write(`  overhead: ${overhead} bytes [${percent(overhead, size)}%]\n`)
}

function percent(part: number, whole: number): number {
  if (whole === 0) return 0
  // Rounds half to even, like printf.
  const exact = (100 * part) / whole
  const up = Math.floor(exact + 0.5)
  return up - exact === 0.5 && up % 2 === 1 ? up - 1 : up
}

function plural(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}

function counts({ name, records, marks, shares }: ContentClass, { detail }: SizeOptions): string {
  // Like PCP, uses the plural for classes, and the singular for single items within them.
  if (name === 'index') return `${records} entries`
  const text = `${records} records`
  if (name === 'indoms' && detail) {
    const instances = [...shares.values()].reduce((sum, { items }) => sum + items, 0)
    return `${text}, ${instances} instances`
  }
  return marks === 0 ? text : `${text} (+ ${marks} <mark> records)`
}

/** Shows the largest shares, ties in file order, until they cover enough of the total. */
function showShares(
  { name, bytes, shares }: ContentClass,
  size: number,
  wanted: SizeOptions,
  namesOf: NamesOf,
  io: ToolIo,
): void {
  let explained = 0
  for (const share of [...shares.values()].sort((a, b) => b.bytes - a.bytes)) {
    if (100 * explained >= wanted.threshold * bytes && explained < bytes) {
      io.stdout.write('    ...\n')
      return
    }
    explained += share.bytes
    const [id, rest] = name === 'data' ? metricText(share, wanted, namesOf) : indomText(share, wanted)
    io.stdout.write(`    ${id}: ${share.bytes} bytes [${percent(share.bytes, size)}%, ${rest}\n`)
  }
}

function metricText(share: ItemUsage, wanted: SizeOptions, namesOf: NamesOf): [string, string] {
  const name = namesOf(share.id).join(', ') || '<noname>'
  const counted = `${plural(share.records, 'record')}, ${plural(share.items, 'value')}`
  return [pmidStr(share.id), `${counted}${repeated(share, wanted)}] (${name})`]
}

function indomText(share: ItemUsage, wanted: SizeOptions): [string, string] {
  const counted = `${plural(share.records, 'record')}, ${plural(share.items, 'instance')}`
  return [indomStr(share.id), `${counted}${repeated(share, wanted)}]`]
}

function repeated({ duplicates, duplicateBytes }: ItemUsage, wanted: SizeOptions): string {
  return wanted.duplicates && duplicates > 0
    ? ` (${duplicateBytes} bytes for ${plural(duplicates, 'dup')})`
    : ''
}

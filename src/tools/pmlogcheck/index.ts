/**
 * pmlogcheck: checks archives for damage. pmlogcheck(1)
 *
 * Output is as in PCP 6.0.3, with the options of 7.2 (several archives, -f, -r, -R). Files are checked in the order of their names,
 * metrics by PMID; timestamps of metadata are checked as well. docs/explanation/differences.md
 */

import type { Archive } from '../../archive/archive.ts'
import type { MemberFiles } from '../../archive/file-names.ts'
import { isError } from '../../model/errors.ts'
import { archiveFiles } from '../../sys/archive-files.ts'
import { FOREVER } from '../../time/arithmetic.ts'
import {
  baseOf,
  memberFiles,
  openArchiveQuietly,
  type PartFile,
  partsOf,
  writeBriefLabel,
} from '../lib/archive-input.ts'
import { openProblem } from '../lib/open-error.ts'
import { HELP_ROW, handleEarlyExit, type OptionTable, usageText } from '../lib/options.ts'
import { parseStandard, STANDARD, type StandardOptions } from '../lib/standard.ts'
import type { Tool } from '../lib/tool.ts'
import { samplingWindow } from '../lib/window.ts'
import { archiveZone } from '../lib/zone.ts'
import { type Check, type CheckOptions, FindingText } from './check.ts'
import { checkFile, repairFile } from './pass0.ts'
import { checkIndex } from './pass1.ts'
import { checkMetadata } from './pass2.ts'
import { checkData } from './pass3.ts'

const OPTIONS: OptionTable = {
  synopsis: '[options] archive',
  rows: [
    { heading: 'Options' },
    { short: 'f', long: 'full', help: 'run all passes even after serious damage' },
    { short: 'l', long: 'label', help: "show the archive's label" },
    { short: 'm', long: 'metadataonly', help: 'skip the data volumes' },
    STANDARD.namespace,
    {
      short: 'r',
      long: 'repair',
      help: 'truncate damaged files after their last good record, with confirmation',
    },
    { short: 'R', long: 'auto-repair', help: 'like -r, without confirmation' },
    STANDARD.start,
    STANDARD.finish,
    { short: 'v', long: 'verbose', help: 'print progress' },
    { short: 'w', long: 'nowrap', help: 'do not report decreasing counters' },
    STANDARD.timezone,
    STANDARD.hostzone,
    STANDARD.debug,
    HELP_ROW,
  ],
}

/** Checks archives. Exits with status 1 if one is damaged or unreadable. */
export const tool: Tool = {
  name: 'pmlogcheck',
  summary: 'Check archives for damage',
  options: OPTIONS,
  async run(io) {
    const parsed = parseStandard(OPTIONS, io, { areOperandsArchives: true })
    const status = handleEarlyExit(OPTIONS, parsed, io)
    if (status !== undefined) return status
    if (parsed.operands.length === 0) {
      io.stderr.write(`Error: no archive specified\n\n${usageText(OPTIONS, io.progname)}`)
      return 1
    }
    const wanted = checkOptions(parsed.given.map(({ name }) => name))
    if (wanted.repair === 'ask' && !io.stdout.isTerminal) {
      io.stderr.write('Error: not interactive so repair not allowed\n')
      io.stderr.write('       ... consider -R for non-interactive repair\n')
      return 1
    }
    const say = (text: string): void => io.stderr.write(`${text}\n`)
    const tell = wanted.verbose ? say : () => {}
    const check: Check = { io, files: archiveFiles(), wanted, say, sayVerbose: tell }
    const seen = new Set<string>()
    let isSound = true
    for (const name of parsed.operands) {
      const base = baseOf(name, check.files)
      if (seen.has(base)) tell(`${name}: skip, already checked this archive`)
      else if (!(await checkArchive(check, name, base, parsed.standard))) isSound = false
      seen.add(base)
    }
    return isSound ? 0 : 1
  },
}

function checkOptions(letters: readonly string[]): CheckOptions {
  const has = (letter: string): boolean => letters.includes(letter)
  const repair = has('R') ? 'auto' : has('r') ? 'ask' : undefined
  return {
    label: has('l'),
    metadataOnly: has('m'),
    verbose: has('v'),
    noWraps: has('w'),
    full: has('f') || repair !== undefined,
    repair,
  }
}

async function checkArchive(
  check: Check,
  name: string,
  base: string,
  standard: StandardOptions,
): Promise<boolean> {
  check.sayVerbose(`Scanning for components of archive "${name}"`)
  const parts = partsOf(base, check.files).sort((one, other) => rankOf(one) - rankOf(other))
  if (parts.length === 0) {
    check.say(`${check.io.progname}: no PCP archive files match "${name}"`)
    return false
  }
  let isDamaged = false
  for (const part of parts) {
    const report = checkFile(check, part)
    if (!report.isDamaged) continue
    const isRepaired = await repairFile(check, report)
    if (!isRepaired) isDamaged = true
  }
  if (!hasAll(check, base, parts)) isDamaged = true
  if (isDamaged && !check.wanted.full) {
    check.sayVerbose('Due to earlier errors, cannot continue ... bye')
    return false
  }
  return checkWhole(check, base, standard) && !isDamaged
}

/** Sort key of files: index, metadata, volumes by number. */
function rankOf({ part }: PartFile): number {
  if (part === 'index') return -2
  return part === 'meta' ? -1 : part
}

function hasAll({ say }: Check, base: string, parts: readonly PartFile[]): boolean {
  const shown = base.includes('/') ? base : `./${base}`
  const hasMeta = parts.some(({ part }) => part === 'meta')
  const hasData = parts.some(({ part }) => typeof part === 'number')
  if (!hasMeta) say(`${shown}.meta: missing metadata file`)
  if (!hasData) say(`${shown}.0 (or similar): missing log file `)
  return hasMeta && hasData
}

/** Runs passes 1 to 3 over the whole archive. */
function checkWhole(check: Check, base: string, standard: StandardOptions): boolean {
  const { io } = check
  let archive: Archive
  let member: MemberFiles
  try {
    archive = openArchiveQuietly(base, check.files, io)
    member = memberFiles(base, check.files)
  } catch (error) {
    const why = openProblem((error as Error).cause ?? error)
    check.say(`${io.progname}: cannot open archive "${base}": ${why}\nChecking abandoned.`)
    return false
  }
  try {
    const { zone, note } = archiveZone(standard, archive.label, io)
    io.stdout.write(note)
    const end = archive.end()
    const bounds = { start: archive.start, end: isError(end) ? FOREVER : end }
    const { start, finish } = samplingWindow(standard, bounds, zone, io)
    if (check.wanted.label)
      writeBriefLabel(io.stderr, archive, zone, { start: archive.start, end: isError(end) ? end : finish })
    checkIndex(check, archive, member)
    checkMetadata(check, archive, member)
    if (check.wanted.metadataOnly) return true
    const text = new FindingText(archive, zone, start, bounds.end)
    return checkData(check, archive, base, { start, finish, text })
  } finally {
    archive.close()
  }
}

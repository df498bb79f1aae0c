/**
 * pmlogcheck: whether archives are sound. pmlogcheck(1)
 *
 * As PCP 6.0.3 prints it, with the options of 7.2 (several archives, -f, -r, -R); files are checked by name and metrics by PMID, and
 * times of metadata are checked as well. docs/differences.md
 */

import type { Archive } from '../../archive/archive.ts'
import type { MemberFiles } from '../../archive/file-names.ts'
import { isError } from '../../model/errors.ts'
import { archiveFiles } from '../../sys/archive-files.ts'
import { FOREVER } from '../../time/arithmetic.ts'
import {
  baseOf,
  memberFiles,
  openNamed,
  type PartFile,
  partsOf,
  writeBriefLabel,
} from '../lib/archive-input.ts'
import { openProblem } from '../lib/open-error.ts'
import { endEarly, HELP_ROW, type OptionTable, usageText } from '../lib/options.ts'
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
    { short: 'f', long: 'full', help: 'go on after damage that makes further passes doubtful' },
    { short: 'l', long: 'label', help: "show the archive's label" },
    { short: 'm', long: 'metadataonly', help: 'leave the data volumes alone' },
    STANDARD.namespace,
    { short: 'r', long: 'repair', help: 'cut damaged files behind their last good record, if you agree' },
    { short: 'R', long: 'auto-repair', help: 'as -r, without asking' },
    STANDARD.start,
    STANDARD.finish,
    { short: 'v', long: 'verbose', help: 'say what is being done' },
    { short: 'w', long: 'nowrap', help: 'say nothing about counters that decrease' },
    STANDARD.timezone,
    STANDARD.hostzone,
    STANDARD.debug,
    HELP_ROW,
  ],
}

/** Checks archives. Status 1 when one is damaged or cannot be read. */
export const tool: Tool = {
  name: 'pmlogcheck',
  summary: 'Check archives for damage',
  options: OPTIONS,
  async run(io) {
    const parsed = parseStandard(OPTIONS, io, { areOperandsArchives: true })
    const status = endEarly(OPTIONS, parsed, io)
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
    const check: Check = { io, files: archiveFiles(), wanted, say, tell }
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
  check.tell(`Scanning for components of archive "${name}"`)
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
    check.tell('Due to earlier errors, cannot continue ... bye')
    return false
  }
  return checkWhole(check, base, standard) && !isDamaged
}

/** The order in which files are checked: index, metadata, volumes by number. */
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

/** Passes 1 to 3, over the archive as one. */
function checkWhole(check: Check, base: string, standard: StandardOptions): boolean {
  const { io } = check
  let archive: Archive
  let member: MemberFiles
  try {
    archive = openNamed(base, check.files, io)
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

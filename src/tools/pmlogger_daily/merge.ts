/** Merges the archives of each past day, after applying rewrite rules. */
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Archive } from '../../archive/archive.ts'
import type { Timestamp } from '../../base/timestamp.ts'
import { isError, PcpError } from '../../model/errors.ts'
import { archiveFiles } from '../../sys/archive-files.ts'
import { compareTimes } from '../../time/arithmetic.ts'
import {
  datedFilesIn,
  dateOf,
  dayBefore,
  dayName,
  fullDate,
  isPartOfDay,
  isWholeDay,
} from '../lib/admin/archive-names.ts'
import { type DirectoryJob, runCallbacks, runCommand } from './job.ts'

/** Merges the archives of past days; returns false if the directory should not be processed further. */
export async function mergeArchives(job: DirectoryJob): Promise<boolean> {
  const { dir, settings, policy, reporter, io, instance } = job
  const today = dayName(io.now())
  const yesterday = dayName(dayBefore(io.now()))
  if (settings.rewrites === 'all') await rewrite(job, wholeDays(job, today))
  if (settings.merges === 'none') return true
  const days = partsByDay(job, (date) =>
    settings.merges === 'yesterday' ? date === yesterday : date < today,
  )
  if (days.size === 0) reporter.verbose(1, 'Warning: no archives found to merge')
  for (const [date, all] of days) {
    if (['meta', 'index', '0'].some((part) => existsSync(join(dir, `${date}.${part}`)))) {
      const { file, line } = instance.where
      reporter.line(`${io.progname}: Warning: output archive (${date}) already exists`)
      reporter.line(`[${file}:${line}] ... skip log merging and compressing for host "${instance.host}"`)
      reporter.fail()
      return false
    }
    if (settings.rewrites !== 'none') await rewrite(job, all)
    const readable = all.flatMap((base) => labelled(job, base))
    if (readable.length > 0 && (await mergeDay(job, readable, date)))
      await runCallbacks(job, policy.mergeCallbacks, date)
  }
  return true
}

/** Returns the archives of each day in time order. */
function partsByDay(
  { dir, current }: DirectoryJob,
  isWanted: (date: string) => boolean,
): Map<string, string[]> {
  const days = new Map<string, string[]>()
  const bases = new Set(datedFilesIn(dir).flatMap(({ base, part }) => (part === 'meta' ? [base] : [])))
  for (const base of [...bases].sort()) {
    const date = dateOf(base)!
    if (base === current || !isPartOfDay(base) || !isWanted(fullDate(date))) continue
    const parts = days.get(date)
    if (parts === undefined) days.set(date, [base])
    else parts.push(base)
  }
  return days
}

function wholeDays({ dir }: DirectoryJob, today: string): string[] {
  const bases = datedFilesIn(dir).map(({ base }) => base)
  return [...new Set(bases)].filter((base) => isWholeDay(base) && fullDate(base) < today)
}

/** Applies the rewrite rules of the directory, or else of the host. */
async function rewrite(job: DirectoryJob, bases: readonly string[]): Promise<void> {
  const { reporter, instance, settings } = job
  const rules = rulesFor(job)
  if (rules === undefined || bases.length === 0) return
  reporter.verbose(2, `Rewriting input archives using -c ${rules}`)
  for (const base of bases) {
    if (settings.showsOnly) reporter.show(`pmlogrewrite -iq -c ${rules} ${base}`)
    else if ((await runCommand(job, 'pmlogger_rewrite', ['-c', rules, base])) !== 0)
      reporter.warning(instance.where, `pmlogrewrite failed for ${base}, which is unchanged`)
  }
}

function rulesFor({ dir, instance }: DirectoryJob): string | undefined {
  const { PCP_VAR_DIR = '', PCP_SYSCONF_DIR = '' } = instance.variables
  const places = [
    join(dir, 'pmlogrewrite'),
    `${PCP_VAR_DIR}/config/pmlogrewrite`,
    `${PCP_SYSCONF_DIR}/pmlogrewrite`,
  ]
  return places.find((path) => statSync(path, { throwIfNoEntry: false }) !== undefined)
}

/** An archive of a day with the host in its label. */
interface Labelled {
  readonly base: string
  readonly host: string
  readonly start: Timestamp
  /** Undefined if its end cannot be determined. */
  readonly end: Timestamp | undefined
}

/** Reads labels. Reports an archive that cannot be opened, so that the others of its day are still merged. */
function labelled({ dir, reporter, instance }: DirectoryJob, base: string): Labelled[] {
  reporter.verbose(2, `Input archive ${base} ...`)
  try {
    const archive = Archive.open(join(dir, base), archiveFiles())
    const end = archive.end()
    archive.close()
    return [{ base, host: archive.label.hostname, start: archive.start, end: isError(end) ? undefined : end }]
  } catch (error) {
    reporter.warning(instance.where, `${base}: ${PcpError.from(error).text}, not merged`)
    return []
  }
}

/**
 * Returns options for a day on which the host was renamed: the merged archive gets the last name, with a warning. Empty if hosts were
 * recorded at the same time, because these are different hosts that must not be merged.
 */
function renaming({ reporter, instance }: DirectoryJob, all: readonly Labelled[], date: string): string[] {
  const byTime = [...all].sort((a, b) => compareTimes(a.start, b.start))
  const isOneAfterOther = byTime.every(({ host, start }, i) => {
    const before = byTime[i - 1]
    if (before === undefined || before.host === host) return true
    return before.end !== undefined && compareTimes(before.end, start) < 0
  })
  const hosts = [...new Set(byTime.map(({ host }) => host))]
  if (hosts.length < 2 || !isOneAfterOther) return []
  const last = hosts.at(-1)!
  reporter.warning(
    instance.where,
    `archives of ${hosts.join(' and ')} are merged into one of ${last} for ${date}`,
  )
  return [`--labelhost=${last}`]
}

/** Merges a day; returns false if that failed or with -N. */
async function mergeDay(job: DirectoryJob, all: readonly Labelled[], date: string): Promise<boolean> {
  const { settings, reporter } = job
  const bases = all.map(({ base }) => base)
  const verbose = settings.verbosity > 0 ? ['-V'] : []
  const [command, args] =
    bases.length === 1
      ? ['pmlogmv', [...verbose, `./${bases[0]}`, date]]
      : [
          'pmlogger_merge',
          [
            ...verbose,
            '-f',
            ...(settings.expunges ? ['-E'] : []),
            ...renaming(job, all, date),
            ...bases,
            date,
          ],
        ]
  if (settings.showsOnly) {
    reporter.show(`${command} ${['-N', ...args].join(' ')}`)
    return false
  }
  const status = await runCommand(job, command as string, args as string[])
  if (status !== 0) reporter.fail()
  return status === 0
}

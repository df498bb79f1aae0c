/** Archives of a day become one, after rules for rewriting have made them alike. */
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
import { type Job, runCallbacks, runCommand } from './job.ts'

/** Merges what there is of days before today; false when the directory is better left alone. */
export async function mergeArchives(job: Job): Promise<boolean> {
  const { dir, settings, policy, voice, io, instance } = job
  const today = dayName(io.now())
  const yesterday = dayName(dayBefore(io.now()))
  if (settings.rewrites === 'all') await rewrite(job, wholeDays(job, today))
  if (settings.merges === 'none') return true
  const days = partsByDay(job, (date) =>
    settings.merges === 'yesterday' ? date === yesterday : date < today,
  )
  if (days.size === 0) voice.tell(1, 'Warning: no archives found to merge')
  for (const [date, all] of days) {
    if (['meta', 'index', '0'].some((part) => existsSync(join(dir, `${date}.${part}`)))) {
      const { file, line } = instance.where
      voice.line(`${io.progname}: Warning: output archive (${date}) already exists`)
      voice.line(`[${file}:${line}] ... skip log merging and compressing for host "${instance.host}"`)
      voice.fail()
      return false
    }
    if (settings.rewrites !== 'none') await rewrite(job, all)
    const readable = all.flatMap((base) => labelled(job, base))
    if (readable.length > 0 && (await mergeDay(job, readable, date)))
      await runCallbacks(job, policy.mergeCallbacks, date)
  }
  return true
}

/** Parts of days, by day, in the order of their time. */
function partsByDay({ dir, current }: Job, isWanted: (date: string) => boolean): Map<string, string[]> {
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

function wholeDays({ dir }: Job, today: string): string[] {
  const bases = datedFilesIn(dir).map(({ base }) => base)
  return [...new Set(bases)].filter((base) => isWholeDay(base) && fullDate(base) < today)
}

/** Applies the rules of the directory, or else those of the host. */
async function rewrite(job: Job, bases: readonly string[]): Promise<void> {
  const { voice, instance, settings } = job
  const rules = rulesFor(job)
  if (rules === undefined || bases.length === 0) return
  voice.tell(2, `Rewriting input archives using -c ${rules}`)
  for (const base of bases) {
    if (settings.showsOnly) voice.show(`pmlogrewrite -iq -c ${rules} ${base}`)
    else if ((await runCommand(job, 'pmlogger_rewrite', ['-c', rules, base])) !== 0)
      voice.warning(instance.where, `pmlogrewrite failed for ${base}, which stays as it was`)
  }
}

function rulesFor({ dir, instance }: Job): string | undefined {
  const { PCP_VAR_DIR = '', PCP_SYSCONF_DIR = '' } = instance.variables
  const places = [
    join(dir, 'pmlogrewrite'),
    `${PCP_VAR_DIR}/config/pmlogrewrite`,
    `${PCP_SYSCONF_DIR}/pmlogrewrite`,
  ]
  return places.find((path) => statSync(path, { throwIfNoEntry: false }) !== undefined)
}

/** An archive of a day, and the host that it says it is of. */
interface Labelled {
  readonly base: string
  readonly host: string
  readonly start: Timestamp
  /** Undefined when its end cannot be found. */
  readonly end: Timestamp | undefined
}

/** An archive that cannot be opened must not keep the others of its day from being merged: it is told of. */
function labelled({ dir, voice, instance }: Job, base: string): Labelled[] {
  voice.tell(2, `Input archive ${base} ...`)
  try {
    const archive = Archive.open(join(dir, base), archiveFiles())
    const end = archive.end()
    archive.close()
    return [{ base, host: archive.label.hostname, start: archive.start, end: isError(end) ? undefined : end }]
  } catch (error) {
    voice.warning(instance.where, `${base}: ${PcpError.from(error).text}, not merged`)
    return []
  }
}

/**
 * Options for a day in which the host of the directory got another name: the day is that of the last one, which is told. None
 * where hosts were recorded at the same time: these are several, and must not become one.
 */
function renaming({ voice, instance }: Job, all: readonly Labelled[], date: string): string[] {
  const byTime = [...all].sort((a, b) => compareTimes(a.start, b.start))
  const isOneAfterOther = byTime.every(({ host, start }, i) => {
    const before = byTime[i - 1]
    if (before === undefined || before.host === host) return true
    return before.end !== undefined && compareTimes(before.end, start) < 0
  })
  const hosts = [...new Set(byTime.map(({ host }) => host))]
  if (hosts.length < 2 || !isOneAfterOther) return []
  const last = hosts.at(-1)!
  voice.warning(instance.where, `archives of ${hosts.join(' and ')} become one of ${last} for ${date}`)
  return [`--labelhost=${last}`]
}

/** False when it failed, or was only shown. */
async function mergeDay(job: Job, all: readonly Labelled[], date: string): Promise<boolean> {
  const { settings, voice } = job
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
    voice.show(`${command} ${['-N', ...args].join(' ')}`)
    return false
  }
  const status = await runCommand(job, command as string, args as string[])
  if (status !== 0) voice.fail()
  return status === 0
}

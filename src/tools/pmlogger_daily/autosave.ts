/** Moves archives of past days to `$PCP_AUTOSAVE_DIR`. */

import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { NEVER } from '../lib/admin/ages.ts'
import { datedFilesIn, dayName, fullDate, isWholeDay } from '../lib/admin/archive-names.ts'
import { makeInstanceDir } from '../lib/admin/instance-dir.ts'
import { type DirectoryJob, runCommand } from './job.ts'
import { ageMs } from './settings.ts'

/** Creates the directory if it is the same for all days, so that errors are reported once, before any work. */
export function prepareAutosave(job: DirectoryJob): void {
  const { autosaveDir } = job.policy
  if (autosaveDir !== '' && !/DATE(?:YYYY|MM|DD)/.test(autosaveDir)) makeSaved(job, autosaveDir)
}

/** Moves archives of past days that need no further processing. */
export async function autosave(job: DirectoryJob): Promise<void> {
  const { dir, policy, settings, reporter, instance, io } = job
  if (policy.autosaveDir === '') return
  const isDated = /DATE(?:YYYY|MM|DD)/.test(policy.autosaveDir)
  for (const base of finishedDays(job)) {
    const target = expandDate(policy.autosaveDir, fullDate(base))
    if (isDated && !settings.showsOnly) makeSaved(job, target)
    if (settings.showsOnly) reporter.show(`pmlogmv ${dir}/${base} ${target}/${base}`)
    else if (!isDirectory(resolve(io.cwd, target)))
      reporter.warning(instance.where, `${base}: AUTOSAVE skipped: directory ${target} does not exist`)
    else if (
      (await runCommand(job, 'pmlogmv', [`${dir}/${base}`, `${target.replace(/\/+$/, '')}/${base}`])) !== 0
    ) {
      reporter.warning(instance.where, `${base}: AUTOSAVE failed`)
      reporter.fail()
    }
  }
}

function makeSaved({ instance, reporter, owner, settings }: DirectoryJob, path: string): void {
  if (isDirectory(path) || settings.showsOnly) return
  if (makeInstanceDir(path, { owner, reporter, variables: instance.variables }))
    reporter.warning(instance.where, `creating directory (${path}) for autosave`)
  else reporter.error(instance.where, `cannot create directory (${path}) for autosave`, instance.host)
}

/** Returns past days with complete archives, compressed ones only if compression is enabled. */
function finishedDays({ dir, policy, io }: DirectoryJob): string[] {
  const today = dayName(io.now())
  const files = datedFilesIn(dir).filter(({ base }) => isWholeDay(base) && fullDate(base) < today)
  const waits = ageMs(policy.compressAfter) !== NEVER
  const unfinished = new Set(
    files.flatMap(({ base, part, suffix }) => (waits && part === 'meta' && suffix === '' ? [base] : [])),
  )
  return [...new Set(files.map(({ base }) => base))].filter((base) => !unfinished.has(base))
}

function expandDate(text: string, date: string): string {
  return text
    .replaceAll('DATEYYYY', date.slice(0, 4))
    .replaceAll('DATEMM', date.slice(4, 6))
    .replaceAll('DATEDD', date.slice(6))
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

/** Moving the finished archives of days to where they are kept: `$PCP_AUTOSAVE_DIR`. */

import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { NEVER } from '../lib/admin/ages.ts'
import { datedFilesIn, dayName, fullDate, isWholeDay } from '../lib/admin/archive-names.ts'
import { makePlace } from '../lib/admin/place.ts'
import { type Job, runCommand } from './job.ts'
import { ageMs } from './settings.ts'

/** Makes the directory when it is the same for all days: what is wrong with it is told once, before any work. */
export function prepareAutosave(job: Job): void {
  const { autosaveDir } = job.policy
  if (autosaveDir !== '' && !/DATE(?:YYYY|MM|DD)/.test(autosaveDir)) makeSaved(job, autosaveDir)
}

/** Moves archives of days before today that need no more work. */
export async function autosave(job: Job): Promise<void> {
  const { dir, policy, settings, voice, instance, io } = job
  if (policy.autosaveDir === '') return
  const isDated = /DATE(?:YYYY|MM|DD)/.test(policy.autosaveDir)
  for (const base of finishedDays(job)) {
    const target = expandDate(policy.autosaveDir, fullDate(base))
    if (isDated && !settings.showsOnly) makeSaved(job, target)
    if (settings.showsOnly) voice.show(`pmlogmv ${dir}/${base} ${target}/${base}`)
    else if (!isDirectory(resolve(io.cwd, target)))
      voice.warning(instance.where, `${base}: AUTOSAVE skipped: directory ${target} does not exist`)
    else if (
      (await runCommand(job, 'pmlogmv', [`${dir}/${base}`, `${target.replace(/\/+$/, '')}/${base}`])) !== 0
    ) {
      voice.warning(instance.where, `${base}: AUTOSAVE failed`)
      voice.fail()
    }
  }
}

function makeSaved({ instance, voice, owner, settings }: Job, path: string): void {
  if (isDirectory(path) || settings.showsOnly) return
  if (makePlace(path, { owner, voice, variables: instance.variables }))
    voice.warning(instance.where, `creating directory (${path}) for autosave`)
  else voice.error(instance.where, `cannot create directory (${path}) for autosave`, instance.host)
}

/** Whole days before today; where archives are compressed, only those that are. */
function finishedDays({ dir, policy, io }: Job): string[] {
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

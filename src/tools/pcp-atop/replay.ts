/** Finds the archives of -r. pcp-atop(1) PCP DATA STORAGE */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { hostname } from 'node:os'
import { basename, join, resolve } from 'node:path'
import type { Variables } from '../../sys/config.ts'
import { strftime } from '../../time/strftime.ts'
import { readFolio } from '../lib/source-lists.ts'
import type { ToolIo } from '../lib/tool.ts'
import { processTimeZone } from '../lib/zone.ts'

const DAY_SEC = 86_400

/**
 * Returns archives or their folders from a comma-separated list: names, folios, days as YYYYMMDD, `today`, or a `y` for each day
 * back.
 */
export function replayArchives(list: string, variables: Variables, io: ToolIo): readonly string[] {
  return list.split(',').flatMap((name) => archivesOf(name, variables, io))
}

function archivesOf(name: string, variables: Variables, io: ToolIo): readonly string[] {
  const path = resolve(io.cwd, name)
  const folio = folioAt(path)
  if (folio !== undefined) return readFolio(folio, io.cwd)
  if (existsSync(path) || existsSync(`${path}.index`) || existsSync(`${path}.meta`)) return [name]
  const day = /^\d{8}$/.test(name)
    ? name
    : /^y+$/.test(name)
      ? dayBefore(name.length, io)
      : name === 'today'
        ? dayBefore(0, io)
        : undefined
  if (day === undefined) return [name]
  return [join(variables['PCP_LOG_DIR'] ?? '/var/log/pcp', 'pmlogger', hostname(), day)]
}

/** Returns the folio of a name: the file itself, or the one in a folder made by -w. */
function folioAt(path: string): string | undefined {
  for (const file of [path, `${path}.folio`, join(path, `${basename(path)}.folio`)]) {
    try {
      if (statSync(file).isFile() && readFileSync(file, 'latin1').startsWith('PCPFolio')) return file
    } catch {
      // Try the next one.
    }
  }
  return undefined
}

function dayBefore(days: number, io: ToolIo): string {
  return strftime('%Y%m%d', Math.floor(io.now() / 1000) - days * DAY_SEC, processTimeZone(io))
}

/** Converts a time of -b or -e to PCP's form: both `11:03` and `15-09-25 11:03:30` get an @. */
export function momentText(text: string): string {
  const match = /^(?:(\d{2,4})-?(\d{2})-?(\d{2})[ _]?)?(\d{1,2}:\d{2}(?::\d{2})?)?$/.exec(text.trim())
  if (match === null) return `@ ${text}`
  const [, year, month, day, clock = '00:00'] = match
  if (year === undefined) return `@ ${clock}`
  return `@ ${year.length === 2 ? `20${year}` : year}-${month}-${day} ${clock}`
}

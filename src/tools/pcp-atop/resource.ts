/** Reads atop's resource files with the user's defaults. pcp-atoprc(5) */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PcpError } from '../../model/errors.ts'
import type { Variables } from '../../sys/config.ts'
import { readTrustedText } from '../lib/trusted-files.ts'
import type { InitialChoice } from './options.ts'
import {
  afterKey,
  type CustomColumn,
  DEFAULTS,
  type Limits,
  type LineLimits,
  type Settings,
} from './settings.ts'
import { TASK_COLUMNS } from './task-columns.ts'

const SYSTEM_FILE = '/etc/atoprc'
const COLORS = ['red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'black', 'white']

const LINE_KEYS: Readonly<Record<string, keyof LineLimits>> = {
  maxlinecpu: 'cpu',
  maxlinegpu: 'gpu',
  maxlinelvm: 'LVM',
  maxlinemdd: 'MDD',
  maxlinedisk: 'DSK',
  maxlinenfsm: 'nfsm',
  maxlineintf: 'intf',
  maxlinecont: 'cont',
}
const LIMIT_KEYS: Readonly<Record<string, keyof Limits>> = {
  cpucritperc: 'cpu',
  dskcritperc: 'dsk',
  netcritperc: 'net',
  memcritperc: 'mem',
  swpcritperc: 'swp',
  swoutcritsec: 'swout',
  almostcrit: 'almost',
}
const COLOR_KEYS: Readonly<Record<string, keyof Settings['colors']>> = {
  colorinfo: 'info',
  colorthread: 'thread',
  coloralmost: 'almost',
  colorcritical: 'critical',
}

/** Reads the host's file, then the user's. Throws PM_ERR_GENERIC with file and line for an invalid setting. */
export function readResources(env: Variables): InitialChoice {
  const home = env['HOME']
  const initial = { settings: DEFAULTS, intervalSec: undefined, lineLength: undefined }
  const choice = withFile(initial, SYSTEM_FILE, readSystemFile())
  if (home === undefined) return choice
  const own = join(home, '.atoprc')
  return withFile(choice, own, readTrustedText(own, 'only your own settings are used'))
}

function readSystemFile(): string | undefined {
  try {
    return readFileSync(SYSTEM_FILE, 'utf8')
  } catch {
    return undefined // the file is optional
  }
}

function withFile(choice: InitialChoice, file: string, text: string | undefined): InitialChoice {
  return text === undefined ? choice : parseResources(text, file, choice)
}

/** Applies the text of a resource file to `initial`. Throws as `readResources` does. */
export function parseResources(text: string, file: string, initial: InitialChoice): InitialChoice {
  let choice = initial
  for (const [i, line] of text.split('\n').entries()) {
    const [key = '', ...words] = line.trim().split(/\s+/)
    if (key === '' || key.startsWith('#')) continue
    try {
      choice = withKey(choice, key, words)
    } catch (error) {
      throw new PcpError('PM_ERR_GENERIC', `${file}:${i + 1}: ${(error as Error).message}`, { cause: error })
    }
  }
  return choice
}

function withKey(choice: InitialChoice, key: string, words: readonly string[]): InitialChoice {
  const { settings } = choice
  const [value = ''] = words
  const withSettings = (change: Partial<Settings>): InitialChoice => ({
    ...choice,
    settings: { ...settings, ...change },
  })
  const line = LINE_KEYS[key]
  if (line !== undefined)
    return withSettings({ maxLines: { ...settings.maxLines, [line]: numberOf(key, value) } })
  const limit = LIMIT_KEYS[key]
  if (limit !== undefined)
    return withSettings({ limits: { ...settings.limits, [limit]: numberOf(key, value) } })
  const color = COLOR_KEYS[key]
  if (color !== undefined) {
    if (!COLORS.includes(value)) throw new Error(`${key} is one of ${COLORS.join(', ')}`)
    return withSettings({ colors: { ...settings.colors, [color]: value } })
  }
  switch (key) {
    case 'flags':
      return withSettings(flagsOf(settings, value))
    case 'interval':
      return { ...choice, intervalSec: numberOf(key, value) }
    case 'linelen':
      return { ...choice, lineLength: numberOf(key, value) }
    case 'username':
      return withSettings({ focus: { ...settings.focus, user: patternOf(value) } })
    case 'procname':
      return withSettings({ focus: { ...settings.focus, program: patternOf(value) } })
    case 'ownprocline':
      return withSettings({ ownLine: words.map(columnOf) })
    default:
      // The layout of host lines is fixed, but other programs' files may have these keys.
      return choice
  }
}

function flagsOf(settings: Settings, letters: string): Settings {
  return [...letters].reduce((sum, letter) => afterKey(sum, letter) ?? sum, settings)
}

function patternOf(text: string): RegExp | undefined {
  return text === '' ? undefined : new RegExp(text)
}

function numberOf(key: string, text: string): number {
  if (!/^\d+$/.test(text)) throw new Error(`${key} needs a number, not "${text}"`)
  return Number(text)
}

function columnOf(word: string): CustomColumn {
  const [name = '', weight = ''] = word.split(':', 2)
  if (TASK_COLUMNS[name] === undefined) throw new Error(`unknown column "${name}"`)
  return { name, weight: numberOf(`the weight of ${name}`, weight) }
}

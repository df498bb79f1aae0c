/** Reads dstat's plugins: sections of files, each defining columns of metrics. pcp-dstat(5) */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PcpError } from '../../model/errors.ts'
import type { Variables } from '../../sys/config.ts'
import { shippedPath } from '../../sys/shipped.ts'
import { parseIni, type Sections } from '../lib/report/ini.ts'
import { hasTrustedDir } from '../lib/trusted-files.ts'

/** Format of values: integer, float, text, minutes; by default that of the metric's type. */
export type PrintType = 'd' | 'f' | 'p' | 'b' | 's' | 't'

/** The option that selects a plugin's instances. */
export type FilterType = 'cpu' | 'disk' | 'dm' | 'gpu' | 'md' | 'part' | 'int' | 'net' | 'swap'

/** A column, or with `%` in its label one for each instance. */
export interface ColumnSpec {
  readonly name: string
  readonly label: string
  /** A metric or an expression. */
  readonly metric: string
  readonly width: number
  readonly printType: PrintType | undefined
  readonly colorStep: number | undefined
  /** Units to convert to; undefined for bytes, seconds, counts. */
  readonly unit: string | undefined
  /** Omit the letter for the unit. */
  readonly isBare: boolean
  /** Show raw counters instead of rates. */
  readonly isRaw: boolean
}

/** How instances are shown: each in its columns, each as a group, their total, both, or only the largest. */
export type Grouping = 'none' | 'instances' | 'total' | 'both' | 'top'

/** A plugin, defined by a section. */
export interface Plugin {
  readonly name: string
  readonly label: string
  readonly width: number
  readonly printType: PrintType | undefined
  readonly colorStep: number | undefined
  readonly grouping: Grouping
  readonly instances: readonly string[]
  /** Instances excluded from the total. */
  readonly culled: RegExp | undefined
  readonly filter: FilterType | undefined
  readonly columns: readonly ColumnSpec[]
  /** The column that determines the largest instance, and the heading. */
  readonly top: ColumnSpec | undefined
}

/** A folder of plugins, or those of this package. */
export interface PluginFolder {
  readonly path: string
  readonly names: readonly string[]
}

/** All plugins, and their folders. */
export interface PluginSet {
  readonly folders: readonly PluginFolder[]
  readonly plugins: ReadonlyMap<string, ReadonlyMap<string, string>>
}

const PLUGIN_KEYS: ReadonlySet<string> = new Set([
  'label',
  'width',
  'precision',
  'printtype',
  'colorstep',
  'grouptype',
  'instances',
  'cullinsts',
  'filtertype',
  'scalestep',
  'unit',
  'type',
])
const GROUPINGS: readonly Grouping[] = ['none', 'instances', 'total', 'both', 'top']
const PRINT_TYPES = 'dfpbst'
const FILTER_TYPES: readonly string[] = ['cpu', 'disk', 'dm', 'gpu', 'md', 'part', 'int', 'net', 'swap']
/** Plugins whose files do not name the option for their instances. */
const FILTERED = /^(?:(cpu|disk|dm|md|part|int|net|swap)|(disk|dm|md|part)-tps|(net)-packets)$/
const DEFAULT_WIDTH = 5
/** Backup files of editors and package managers. */
const BACKUP_FILES = /^\.|~$|\.(?:rpmnew|rpmsave|dpkg-\w+)$/

/** Reads all plugins. Throws PM_ERR_GENERIC with the lines to print for an unreadable file, or without any plugin. */
export function readPlugins(env: Variables, variables: Variables): PluginSet {
  const home = env['HOME']
  const own = home === undefined ? [] : [join(home, '.pcp', 'dstat')]
  const system = join(variables['PCP_SYSCONF_DIR'] ?? '/etc/pcp', 'dstat')
  const places = [system, ...own]
  const present = [system, ...own.filter((folder) => hasTrustedDir(folder, 'only your own plugins are used'))]
  const plugins: Sections = new Map()
  const folders: PluginFolder[] = []
  for (const place of present) {
    const sections = readFolder(place)
    if (sections.size === 0) continue
    mergeSections(plugins, sections)
    folders.push({ path: place, names: [...sections.keys()].sort() })
  }
  addShipped(plugins, folders)
  if (plugins.size === 0)
    throw new PcpError('PM_ERR_GENERIC', `No plugins of dstat found in: ${places.join(', ')}`)
  return { folders, plugins }
}

/** Adds plugins of this package that are missing in all folders. */
function addShipped(plugins: Sections, folders: PluginFolder[]): void {
  const path = shippedPath('dstat')
  if (path === undefined) return
  const missing = [...readFolder(path)].filter(([name]) => !plugins.has(name))
  if (missing.length === 0) return
  mergeSections(plugins, new Map(missing))
  folders.unshift({ path, names: missing.map(([name]) => name).sort() })
}

/** Reads the sections of all files in a folder, by name; empty without the folder. */
function readFolder(folder: string): Sections {
  const all: Sections = new Map()
  for (const name of filesIn(folder)) {
    const file = join(folder, name)
    mergeSections(all, parseIni(readFileSync(file, 'utf8'), file))
  }
  return all
}

function filesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => !entry.isDirectory() && !BACKUP_FILES.test(entry.name))
      .map(({ name }) => name)
      .sort()
  } catch {
    return [] // the folder is optional
  }
}

/** Merges sections of the same name; later keys win. */
function mergeSections(all: Sections, more: Sections): void {
  for (const [name, keys] of more) {
    const known = all.get(name)
    if (known === undefined) all.set(name, new Map(keys))
    else for (const [key, value] of keys) known.set(key, value)
  }
}

/** Parses a section. Throws PM_ERR_GENERIC with the line to print for an invalid one. */
export function pluginOf(name: string, keys: ReadonlyMap<string, string>): Plugin {
  const number = (key: string): number | undefined => {
    const text = keys.get(key)
    if (text === undefined) return undefined
    const value = Number(text)
    if (!Number.isFinite(value)) throw wrong(name, `${key} is not a number: "${text}"`)
    return value
  }
  const width = number('width') ?? DEFAULT_WIDTH
  const printType = printTypeOf(name, keys.get('printtype'))
  const colorStep = number('colorstep')
  const grouping = GROUPINGS[number('grouptype') ?? 0]
  if (grouping === undefined) throw wrong(name, `grouptype must be 1 to 4, not "${keys.get('grouptype')}"`)
  const isTop = grouping === 'top'
  const columns = new Map<string, ColumnSpec>()
  for (const [key, metric] of keys) {
    if (PLUGIN_KEYS.has(key) || key.includes('.')) continue
    columns.set(key, {
      name: key,
      label: keys.get(`${key}.label`) ?? key,
      metric,
      width: number(`${key}.width`) ?? width,
      // Columns of the largest instance follow the types of their metrics.
      printType: isTop ? undefined : (printTypeOf(name, keys.get(`${key}.printtype`)) ?? printType),
      colorStep: number(`${key}.colorstep`) ?? colorStep,
      unit: keys.get(`${key}.unit`) ?? keys.get('unit'),
      isBare: isTop,
      isRaw: (keys.get(`${key}.type`) ?? keys.get('type')) === 'raw',
    })
  }
  checkRefinements(name, keys, columns)
  const top = isTop ? columns.get('top') : undefined
  if (isTop && top === undefined) throw wrong(name, 'grouptype 4 needs a column "top"')
  if (isTop) columns.delete('top')
  return {
    name,
    label: keys.get('label') ?? name,
    width,
    printType,
    colorStep,
    grouping,
    instances: (keys.get('instances') ?? '').split(',').flatMap((item) => item.trim() || []),
    culled: patternOf(name, keys.get('cullinsts')),
    filter: filterOf(name, keys.get('filtertype')),
    columns: [...columns.values()],
    top,
  }
}

function checkRefinements(
  name: string,
  keys: ReadonlyMap<string, string>,
  columns: ReadonlyMap<string, ColumnSpec>,
): void {
  for (const key of keys.keys()) {
    const dot = key.indexOf('.')
    if (dot > 0 && !columns.has(key.slice(0, dot))) throw wrong(name, `${key} does not belong to a column`)
  }
}

function printTypeOf(name: string, text: string | undefined): PrintType | undefined {
  const letter = text?.[0]
  if (letter === undefined) return undefined
  if (!PRINT_TYPES.includes(letter))
    throw wrong(name, `printtype must be one of ${[...PRINT_TYPES].join(' ')}, not "${text}"`)
  return letter as PrintType
}

function filterOf(name: string, text: string | undefined): FilterType | undefined {
  if (text === undefined) {
    const match = FILTERED.exec(name)
    return (match?.[1] ?? match?.[2] ?? match?.[3]) as FilterType | undefined
  }
  const type = text === 'net-packets' ? 'net' : text
  if (!FILTER_TYPES.includes(type))
    throw wrong(name, `filtertype must be one of ${FILTER_TYPES.join(' ')}, not "${text}"`)
  return type as FilterType
}

function patternOf(name: string, text: string | undefined): RegExp | undefined {
  if (text === undefined) return undefined
  try {
    return new RegExp(`^(?:${text})`)
  } catch (error) {
    throw wrong(name, `cullinsts: ${(error as Error).message}`)
  }
}

function wrong(name: string, why: string): PcpError {
  return new PcpError('PM_ERR_GENERIC', `Plugin [${name}]: ${why}`)
}

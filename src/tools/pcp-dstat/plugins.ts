/** What dstat's plugins are: files of sections, each a group of columns of metrics. pcp-dstat(5) */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PcpError } from '../../model/errors.ts'
import type { Variables } from '../../sys/config.ts'
import { shippedPath } from '../../sys/shipped.ts'
import { hasOwnTree } from '../lib/own-files.ts'
import { parseIni, type Sections } from '../lib/report/ini.ts'

/** How values look: whole numbers, fractions, text, minutes; by the type of the metric where nothing is said. */
export type PrintType = 'd' | 'f' | 'p' | 'b' | 's' | 't'

/** Which option lists the instances of a plugin. */
export type FilterType = 'cpu' | 'disk' | 'dm' | 'gpu' | 'md' | 'part' | 'int' | 'net' | 'swap'

/** One column, or with `%` in its label one for each instance. */
export interface ColumnSpec {
  readonly name: string
  readonly label: string
  /** A metric, or the expression of a derived one. */
  readonly metric: string
  readonly width: number
  readonly printType: PrintType | undefined
  readonly colorStep: number | undefined
  /** Units to convert to; undefined: bytes, seconds, counts. */
  readonly unit: string | undefined
  /** Has no letter for its size. */
  readonly isBare: boolean
  /** Counters are shown as they are, not as rates. */
  readonly isRaw: boolean
}

/** What is shown of several instances: each in its columns, each as a group, their total, both, or the greatest alone. */
export type Grouping = 'none' | 'instances' | 'total' | 'both' | 'top'

/** A section of a file. */
export interface Plugin {
  readonly name: string
  readonly label: string
  readonly width: number
  readonly printType: PrintType | undefined
  readonly colorStep: number | undefined
  readonly grouping: Grouping
  readonly instances: readonly string[]
  /** Instances that do not count in the total. */
  readonly culled: RegExp | undefined
  readonly filter: FilterType | undefined
  readonly columns: readonly ColumnSpec[]
  /** What the greatest instance is chosen by, and the heading of its columns. */
  readonly top: ColumnSpec | undefined
}

/** A directory of plugins, or what comes with the command. */
export interface PluginFolder {
  readonly path: string
  readonly names: readonly string[]
}

/** All plugins, and where they are from. */
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
/** Plugins of files that do not say which option lists their instances. */
const FILTERED = /^(?:(cpu|disk|dm|md|part|int|net|swap)|(disk|dm|md|part)-tps|(net)-packets)$/
const DEFAULT_WIDTH = 5
/** Files of a folder that an editor or a package manager left there. */
const NO_PLUGINS = /^\.|~$|\.(?:rpmnew|rpmsave|dpkg-\w+)$/

/** Reads all files. PM_ERR_GENERIC with the lines to print for one that cannot be read, or where there are none. */
export function readPlugins(env: Variables, variables: Variables): PluginSet {
  const home = env['HOME']
  const own = home === undefined ? [] : [join(home, '.pcp', 'dstat')]
  const system = join(variables['PCP_SYSCONF_DIR'] ?? '/etc/pcp', 'dstat')
  const places = [system, ...own]
  const present = [system, ...own.filter((folder) => hasOwnTree(folder, 'only your own plugins are used'))]
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

/** Those of this package that no other folder has. */
function addShipped(plugins: Sections, folders: PluginFolder[]): void {
  const path = shippedPath('dstat')
  if (path === undefined) return
  const missing = [...readFolder(path)].filter(([name]) => !plugins.has(name))
  if (missing.length === 0) return
  mergeSections(plugins, new Map(missing))
  folders.unshift({ path, names: missing.map(([name]) => name).sort() })
}

/** Sections of all files of a folder, by name; none where there is no such folder. */
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
      .filter((entry) => !entry.isDirectory() && !NO_PLUGINS.test(entry.name))
      .map(({ name }) => name)
      .sort()
  } catch {
    return [] // most have none of their own
  }
}

/** A section that is there twice has the keys of both, the later ones in place of the earlier. */
function mergeSections(all: Sections, more: Sections): void {
  for (const [name, keys] of more) {
    const known = all.get(name)
    if (known === undefined) all.set(name, new Map(keys))
    else for (const [key, value] of keys) known.set(key, value)
  }
}

/** Makes sense of a section. PM_ERR_GENERIC with the line to print for what makes none. */
export function pluginOf(name: string, keys: ReadonlyMap<string, string>): Plugin {
  const number = (key: string): number | undefined => {
    const text = keys.get(key)
    if (text === undefined) return undefined
    const value = Number(text)
    if (!Number.isFinite(value)) throw wrong(name, `${key} is no number: "${text}"`)
    return value
  }
  const width = number('width') ?? DEFAULT_WIDTH
  const printType = printTypeOf(name, keys.get('printtype'))
  const colorStep = number('colorstep')
  const grouping = GROUPINGS[number('grouptype') ?? 0]
  if (grouping === undefined) throw wrong(name, `grouptype is none of 1 to 4: "${keys.get('grouptype')}"`)
  const isTop = grouping === 'top'
  const columns = new Map<string, ColumnSpec>()
  for (const [key, metric] of keys) {
    if (PLUGIN_KEYS.has(key) || key.includes('.')) continue
    columns.set(key, {
      name: key,
      label: keys.get(`${key}.label`) ?? key,
      metric,
      width: number(`${key}.width`) ?? width,
      // The columns of the greatest instance go by the types of their metrics.
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
    if (dot > 0 && !columns.has(key.slice(0, dot))) throw wrong(name, `${key} belongs to no column`)
  }
}

function printTypeOf(name: string, text: string | undefined): PrintType | undefined {
  const letter = text?.[0]
  if (letter === undefined) return undefined
  if (!PRINT_TYPES.includes(letter))
    throw wrong(name, `printtype is none of ${[...PRINT_TYPES].join(' ')}: "${text}"`)
  return letter as PrintType
}

function filterOf(name: string, text: string | undefined): FilterType | undefined {
  if (text === undefined) {
    const match = FILTERED.exec(name)
    return (match?.[1] ?? match?.[2] ?? match?.[3]) as FilterType | undefined
  }
  const type = text === 'net-packets' ? 'net' : text
  if (!FILTER_TYPES.includes(type))
    throw wrong(name, `filtertype is none of ${FILTER_TYPES.join(' ')}: "${text}"`)
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

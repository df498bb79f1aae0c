/** Finds and reads configuration files of reports. pmrep.conf(5) */

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { PcpError } from '../../../model/errors.ts'
import type { Variables } from '../../../sys/config.ts'
import { shippedPath } from '../../../sys/shipped.ts'
import { requireTrustedFile } from '../trusted-files.ts'
import { parseIni, type Sections } from './ini.ts'
import { applySetting, isSetting, type Settings } from './settings.ts'
import { attributeOf, parseSpec, type ReportMetricSpec, type SpecTexts, specOf, splitSpec } from './spec.ts'

/** The configuration read from one file or from all files of a directory. */
export interface ReportConfig {
  /** The last file read, for messages. */
  readonly file: string
  readonly sections: Sections
}

/** The metrics and derived metrics of a section. */
export interface SectionMetrics {
  readonly specs: readonly ReportMetricSpec[]
  /** Expressions by name. */
  readonly formulas: ReadonlyMap<string, string>
}

const NOTHING: ReportConfig = { file: '', sections: new Map() }
/** Sections merged key by key if several files have them. */
const MERGED: ReadonlySet<string> = new Set(['options', 'global'])

/**
 * Reads `path`, or the first existing configuration: `./TOOL.conf`, the user's, the system's file, the system's directory. Throws
 * PM_ERR_GENERIC with the lines to print if it cannot be read.
 */
export function readConfig(
  tool: string,
  path: string | undefined,
  where: { readonly cwd: string; readonly env: Variables; readonly variables: Variables },
): ReportConfig {
  const found = path === undefined ? findConfig(tool, where) : resolve(where.cwd, path)
  if (found === undefined) return NOTHING
  try {
    if (!statSync(found).isDirectory()) return readFiles([found])
    return readFiles(configFiles(found))
  } catch (error) {
    if (error instanceof PcpError && error.code === 'PM_ERR_GENERIC') throw error
    const { text } = PcpError.from(error)
    throw new PcpError('PM_ERR_GENERIC', `Failed to read configuration from '${path ?? found}':\n${text}.`, {
      cause: error,
    })
  }
}

/** Adds the metric sets of this package that `operands` name and the configuration lacks. Reads nothing if none is missing. */
export function withShippedSets(config: ReportConfig, operands: readonly string[]): ReportConfig {
  const missing = operands.filter(
    (operand) => operand.startsWith(':') && !config.sections.has(operand.slice(1)),
  )
  if (missing.length === 0) return config
  const shipped = shippedSets()
  const sections: Sections = new Map(config.sections)
  let { file } = config
  for (const operand of missing) {
    const set = shipped.sections.get(operand.slice(1))
    if (set === undefined) continue
    sections.set(operand.slice(1), set)
    if (file === '') file = shipped.file
  }
  return { file, sections }
}

/** Reads the metric sets of this package. */
export function shippedSets(): ReportConfig {
  const folder = shippedPath('pmrep')
  return folder === undefined ? NOTHING : readFiles(configFiles(folder))
}

function configFiles(folder: string): string[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.conf'))
  return files.sort().map((name) => join(folder, name))
}

function findConfig(
  tool: string,
  { cwd, env, variables }: { readonly cwd: string; readonly env: Variables; readonly variables: Variables },
): string | undefined {
  const home = env['HOME']
  const system = variables['PCP_SYSCONF_DIR'] ?? '/etc/pcp'
  const own = [
    resolve(cwd, `${tool}.conf`),
    ...(home === undefined ? [] : [join(home, `.${tool}.conf`), join(home, '.pcp', `${tool}.conf`)]),
  ]
  const found = own.find(existsSync)
  if (found === undefined) return [join(system, tool, `${tool}.conf`), join(system, tool)].find(existsSync)
  requireTrustedFile(found, 'use -c to read it anyway')
  return found
}

function readFiles(files: readonly string[]): ReportConfig {
  const sections: Sections = new Map()
  for (const file of files) {
    for (const [name, keys] of parseIni(readFileSync(file, 'utf8'), file)) {
      const known = MERGED.has(name) ? sections.get(name) : undefined
      if (known === undefined) sections.set(name, keys)
      else for (const [key, value] of keys) known.set(key, value)
    }
  }
  return { file: files.at(-1) ?? '', sections }
}

/** Applies the settings of `[options]`. Throws PM_ERR_GENERIC with the lines to print for an unknown or invalid one. */
export function applyOptionsSection({ sections, file }: ReportConfig, settings: Settings): void {
  for (const [key, value] of sections.get('options') ?? []) {
    if (!isSetting(key)) throw wrong(file, `Unknown option ${key} in [options].`)
    applySetting(settings, key, givenValue(value, key, 'options', file))
  }
}

/** Applies the settings of a section; `[global]` cannot have any. Throws PM_ERR_GENERIC with the lines to print. */
export function applySection({ sections, file }: ReportConfig, name: string, settings: Settings): void {
  for (const [key, value] of sections.get(name) ?? []) {
    if (!isSetting(key)) continue
    if (name === 'global') throw wrong(file, 'Section [global] contains options.')
    applySetting(settings, key, givenValue(value, key, name, file))
  }
}

/** Returns the metrics of a section, in its order. Throws PM_ERR_GENERIC with the lines to print for inconsistent keys. */
export function sectionMetrics({ sections, file }: ReportConfig, name: string): SectionMetrics {
  const specs: ReportMetricSpec[] = []
  const formulas = new Map<string, string>()
  const handles = new Map<
    string,
    { readonly at: number; readonly metric: string; readonly texts: SpecTexts }
  >()
  for (const [key, text] of sections.get(name) ?? []) {
    if (isSetting(key)) continue
    const value = givenValue(text, key, name, file)
    const attribute = attributeOf(key)
    if (attribute !== undefined) {
      const handle = handles.get(attribute.handle)
      if (handle === undefined) throw wrong(file, `Undeclared metric key ${attribute.handle}.`)
      const texts = { ...handle.texts, [attribute.name]: value }
      handles.set(attribute.handle, { ...handle, texts })
      if (attribute.name === 'formula') formulas.set(handle.metric, value)
      else specs[handle.at] = specOf(handle.metric, texts)
    } else if (key.includes('.')) specs.push(parseSpec(`${key},${value}`))
    else if (value.includes(',')) {
      // A metric defined in this section; its formula follows.
      const { name: metric, texts } = splitSpec(`${key},${value}`)
      handles.set(key, { at: specs.length, metric, texts })
      specs.push(specOf(metric, texts))
    } else {
      handles.set(key, { at: specs.length, metric: value, texts: {} })
      specs.push(specOf(value, {}))
    }
  }
  return { specs, formulas }
}

function givenValue(value: string, key: string, section: string, file: string): string {
  if (value === '') throw wrong(file, `No value set for ${key} in [${section}].`)
  const isQuoted = value.length >= 2 && value.startsWith('"') && value.endsWith('"')
  return isQuoted && !value.slice(1, -1).includes('"') ? value.slice(1, -1) : value
}

function wrong(file: string, why: string): PcpError {
  return new PcpError('PM_ERR_GENERIC', `Failed to read configuration file '${file}':\n${why}`)
}

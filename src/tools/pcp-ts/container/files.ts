/** Files that a container writes at its start, in its directory of settings. */
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { StartDirectories } from '../../../start/directories.ts'
import { makeDir } from '../../../sys/make-dir.ts'
import { replaceFile } from '../../../sys/replace-file.ts'

/** First line of a file that may be overwritten. */
const MARK = '# Written by pcp-ts container at every start.'

/** Settings of the web server of a container. */
export interface WebNames {
  /** Names by which it is reached. */
  readonly names: readonly string[]
  /** Collectors that it may reach; undefined for its own. */
  readonly hosts?: readonly string[]
}

/** Path of the labels of the collector. */
export function labelsPath({ variables }: StartDirectories): string {
  return join(variables['PCP_SYSCONF_DIR']!, 'labels', 'kubernetes.json')
}

/** Path of pmproxy.conf. */
export function proxyConfPath({ variables }: StartDirectories): string {
  return join(variables['PCP_SYSCONF_DIR']!, 'pmproxy', 'pmproxy.conf')
}

/** Path of the rules of pmie, which the user mounts or writes. */
export function rulesPath({ variables }: StartDirectories): string {
  return join(variables['PCP_SYSCONF_DIR']!, 'pmie', 'config.default')
}

/** Writes the labels, or removes those of an earlier start. */
export function writeLabels(place: StartDirectories, labels: Readonly<Record<string, string>>): void {
  const path = labelsPath(place)
  if (Object.keys(labels).length === 0) rmSync(path, { force: true })
  else write(path, `${JSON.stringify(nested(labels))}\n`)
}

/** Returns `{ 'k8s.node': 'n1' }` as `{ k8s: { node: 'n1' } }`, as label files have it. */
function nested(labels: Readonly<Record<string, string>>): Record<string, unknown> {
  const top: Record<string, Record<string, string>> = {}
  for (const [name, value] of Object.entries(labels)) {
    const [group = '', key = ''] = name.split('.')
    top[group] = { ...top[group], [key]: value }
  }
  return top
}

/** Writes pmproxy.conf, unless the user has written one. Returns whether its content is ours. */
export function writeProxyConf(place: StartDirectories, { names, hosts }: WebNames): boolean {
  const path = proxyConfPath(place)
  if (existsSync(path) && !readFileSync(path, 'utf8').startsWith(MARK)) return false
  const lines = [MARK, '[ui]']
  if (names.length > 0) lines.push(`names = ${names.join(', ')}`)
  if (hosts !== undefined) lines.push(`hosts = ${hosts.join(', ')}`)
  write(path, `${lines.join('\n')}\n`)
  return true
}

function write(path: string, text: string): void {
  makeDir(dirname(path), 0o755)
  replaceFile(path, text)
}

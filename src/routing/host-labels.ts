/** Context labels: what the collector reports about its host. pmLookupLabels(3), pmcd(1) */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PM_IN_NULL } from '../model/ids.ts'
import { LABEL_COMPOUND, LABEL_CONTEXT, LABEL_OPTIONAL, type Label, type LabelSet } from '../model/labels.ts'
import type { Requester } from '../model/source.ts'

/** Sources of host labels. */
export interface LabelSources {
  /** PCP_SYSCONF_DIR: holds labels/, labels/optional/ and labels.conf. */
  readonly sysconfDir: string
  readonly hostname: string
  /** Root of the file system to read; '/' except in tests. */
  readonly root: string
}

/** Labels that are the same for every client. */
export interface HostLabels {
  /** From files, by name. */
  readonly files: ReadonlyMap<string, Label>
  /** Labels of every host: hostname, domainname, machineid. */
  readonly intrinsic: ReadonlyMap<string, Label>
  /** For the log: files that were skipped. */
  readonly problems: readonly string[]
}

/** Longest name of a label, in characters. */
const MAX_NAME = 255
const NAME = /^[A-Za-z]\w*(?:\.[A-Za-z]\w*)*$/

/** Reads label files and intrinsic labels. Never throws; invalid files are listed in `problems`. */
export function readHostLabels(origin: LabelSources): HostLabels {
  const problems: string[] = []
  const files = new Map<string, Label>()
  const folder = join(origin.sysconfDir, 'labels')
  readFolder(folder, LABEL_CONTEXT, files, problems)
  readFolder(join(folder, 'optional'), LABEL_CONTEXT | LABEL_OPTIONAL, files, problems)
  return { files, intrinsic: intrinsicLabels(origin), problems }
}

/** Returns the label set for a requester; labels from files take precedence over intrinsic ones. */
export function contextLabels(host: HostLabels, requester: Requester): LabelSet {
  const all = new Map([...host.intrinsic, ...requesterLabels(requester), ...host.files])
  return labelSetOf(all)
}

/** Returns the labels from files as one JSON object; '' without any. */
export function fileLabelsJson(host: HostLabels): string {
  return labelSetOf(host.files).json
}

function labelSetOf(labels: ReadonlyMap<string, Label>): LabelSet {
  const sorted = [...labels.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
  const members = sorted.map(({ name, value }) => `${JSON.stringify(name)}:${value}`)
  return {
    inst: PM_IN_NULL,
    status: 0,
    json: sorted.length === 0 ? '' : `{${members.join(',')}}`,
    labels: sorted,
  }
}

function requesterLabels(requester: Requester): Map<string, Label> {
  const labels = new Map<string, Label>()
  const { container, credentials } = requester
  if (container !== undefined && container !== '') put(labels, 'container', container, LABEL_CONTEXT)
  const optional = LABEL_CONTEXT | LABEL_OPTIONAL
  if (credentials?.gid !== undefined) put(labels, 'groupid', credentials.gid, optional)
  if (credentials?.uid !== undefined) put(labels, 'userid', credentials.uid, optional)
  return labels
}

function intrinsicLabels(origin: LabelSources): Map<string, Label> {
  const labels = new Map<string, Label>()
  put(labels, 'hostname', origin.hostname, LABEL_CONTEXT)
  const domain = readLine(join(origin.root, 'proc/sys/kernel/domainname'))
  put(labels, 'domainname', domain === '' || domain === '(none)' ? 'localdomain' : domain, LABEL_CONTEXT)
  const machine = readLine(join(origin.root, 'etc/machine-id'))
  if (wantsHash(origin.sysconfDir) && machine !== '') {
    const { createHash } = process.getBuiltinModule('node:crypto')
    put(labels, 'machineid_sha256', createHash('sha256').update(machine).digest('hex'), LABEL_CONTEXT)
  } else {
    put(labels, 'machineid', machine === '' ? 'localmachine' : machine, LABEL_CONTEXT)
  }
  return labels
}

/** Returns whether labels.conf has `machineid_hash=sha256` in its section `[global]`. */
function wantsHash(sysconfDir: string): boolean {
  let section = ''
  for (const line of readText(join(sysconfDir, 'labels.conf')).split('\n')) {
    const header = /^\s*\[\s*(\w+)\s*\]/.exec(line)
    if (header !== null) section = header[1]!
    else if (section === 'global' && /^\s*machineid_hash\s*=\s*sha256\s*$/.test(line)) return true
  }
  return false
}

function readFolder(folder: string, flags: number, into: Map<string, Label>, problems: string[]): void {
  let names: string[]
  try {
    names = readdirSync(folder, { withFileTypes: true })
      .filter((entry) => !entry.isDirectory() && !entry.name.startsWith('.'))
      .map((entry) => entry.name)
      .sort()
  } catch {
    return // no such directory: no configured labels
  }
  for (const name of names) {
    const path = join(folder, name)
    try {
      const value: unknown = JSON.parse(readFileSync(path, 'utf8'))
      if (!isObject(value)) throw new Error('not a JSON object')
      const labels = new Map<string, Label>()
      flatten(value, '', flags, labels)
      for (const [key, label] of labels) into.set(key, label)
    } catch (error) {
      problems.push(`Labels in ${path} are ignored: ${(error as Error).message}`)
    }
  }
}

/** Flattens nested objects to dotted names. Throws an Error for an invalid label name. */
function flatten(
  object: Readonly<Record<string, unknown>>,
  prefix: string,
  flags: number,
  into: Map<string, Label>,
): void {
  for (const [key, value] of Object.entries(object)) {
    const name = prefix + key
    if (!NAME.test(name) || name.length > MAX_NAME) throw new Error(`"${name}" cannot be the name of a label`)
    if (isObject(value)) flatten(value, `${name}.`, flags | LABEL_COMPOUND, into)
    else put(into, name, value, flags)
  }
}

function put(labels: Map<string, Label>, name: string, value: unknown, flags: number): void {
  labels.set(name, { name, value: JSON.stringify(value), flags })
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function readLine(path: string): string {
  return readText(path).trim()
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

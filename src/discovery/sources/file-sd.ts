/** Targets in files of Prometheus' `file_sd_configs`: JSON or YAML, groups of `targets` with `labels`. */
import { readdirSync } from 'node:fs'
import { basename, dirname, extname, join } from 'node:path'
import { matchesGlob } from '../../base/glob.ts'
import { PcpError } from '../../model/errors.ts'
import { type DiscoveredHost, directoryOf, fileName, hostOf, orSkipped, specOf } from '../host.ts'
import { polled } from '../polled.ts'
import { readSmall, sourcePath } from '../read-small.ts'
import type { SourceKind } from '../source.ts'
import { parseYaml } from '../yaml.ts'

/** Most files of one pattern. */
const MOST_FILES = 1000

/** A file as it was last read without an error, so that an unchanged one is not parsed again. */
interface KnownFile {
  readonly text: string | undefined
  readonly hosts: readonly DiscoveredHost[]
}

export const fileSd: SourceKind = {
  name: 'file_sd',
  argument: 'FILE, which may have * in its last part',
  refreshMs: 5_000,
  graceMs: 0,
  options: [],
  open(argument, { refreshMs, port, options }, io) {
    const path = sourcePath(argument, io.cwd)
    const hasOwnPort = options['port'] === undefined
    const hostsOf = async (text: string, file: string) =>
      targetsOf(await parseText(text, file), file, hasOwnPort ? undefined : port, io.say)
    let known: ReadonlyMap<string, KnownFile> = new Map()
    const find = async () => {
      const found = new Map<string, KnownFile>()
      const files = filesOf(path)
      for (const file of files) {
        const before = known.get(file)
        try {
          const text = readSmall(file)
          found.set(file, before?.text === text ? before : { text, hosts: await hostsOf(text, file) })
        } catch (error) {
          if (files.length === 1) throw error
          // As in Prometheus, a file that is being edited neither loses its hosts nor holds up the others.
          io.say(`${PcpError.from(error).message}; the last hosts of this file stay`)
          found.set(file, before ?? { text: undefined, hosts: [] })
        }
      }
      known = found
      return { hosts: [...found.values()].flatMap(({ hosts }) => hosts) }
    }
    return polled(find, refreshMs, io.clock)
  },
}

function filesOf(path: string): readonly string[] {
  const pattern = basename(path)
  if (!pattern.includes('*')) return [path]
  const files = readdirSync(dirname(path)).filter((name) => matchesGlob(pattern, name))
  if (files.length > MOST_FILES)
    throw new PcpError('E2BIG', `${path}: ${files.length} files match; at most ${MOST_FILES} are read`)
  return files.sort().map((name) => join(dirname(path), name))
}

async function parseText(text: string, path: string): Promise<unknown> {
  if (extname(path) !== '.json') return await parseYaml(text, path)
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new PcpError('PM_ERR_CONV', `${path}: not JSON: ${(error as Error).message}`)
  }
}

/**
 * Returns the hosts of target groups. The port of a target is that of another exporter if `port` is given. Throws PM_ERR_CONV for another
 * structure; single invalid targets are reported and skipped.
 */
export function targetsOf(
  groups: unknown,
  path: string,
  port: number | undefined,
  say: (text: string) => void,
): DiscoveredHost[] {
  if (groups === null || groups === undefined) return []
  if (!Array.isArray(groups))
    throw new PcpError('PM_ERR_CONV', `${path}: expected a list of groups with "targets"`)
  const hosts: DiscoveredHost[] = []
  for (const group of groups as unknown[]) {
    const { targets, labels } = (group ?? {}) as { readonly targets?: unknown; readonly labels?: unknown }
    if (!Array.isArray(targets))
      throw new PcpError('PM_ERR_CONV', `${path}: a group has no list of "targets"`)
    const shared = textLabels(labels)
    for (const target of targets as unknown[]) {
      const host = orSkipped(() => targetOf(String(target), shared, port), say)
      if (host !== undefined) hosts.push(host)
    }
  }
  return hosts
}

function targetOf(
  target: string,
  labels: Readonly<Record<string, string>>,
  port: number | undefined,
): DiscoveredHost {
  const address = target.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1')
  const host = hostOf(port === undefined ? target : specOf(address, port), labels)
  return { ...host, name: fileName(labels['instance'] ?? directoryOf(target)) }
}

function textLabels(labels: unknown): Readonly<Record<string, string>> {
  if (typeof labels !== 'object' || labels === null) return {}
  return Object.fromEntries(Object.entries(labels).map(([name, value]) => [name, String(value)]))
}

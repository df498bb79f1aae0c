/** Shared context of the linux agent: files, kernel constants, CPUs and nodes. */
import { existsSync, readdirSync } from 'node:fs'
import type { AgentEnv, IndomSpec } from '../../pmda/define.ts'
import { Reading } from '../../pmda/reading.ts'
import { Attributes } from '../../sys/attributes.ts'
import { kernelUnitsFor } from '../../sys/auxv.ts'
import { ProcFile, readSmallFile, rooted } from '../../sys/proc.ts'
import { newStat, type ProcStat, parseStat } from './proc-stat.ts'
import { parseNumber } from './sample.ts'
import { readTopology, type Topology } from './topology.ts'

/** The agent's access to the system. Paths are absolute and resolved below the agent's root. */
export interface LinuxContext {
  readonly env: AgentEnv
  /** Root of the observed file system: '/' or the root of a fixture tree. */
  readonly root: string
  /** Clock ticks per second, the unit of CPU times in /proc/stat. */
  readonly hertz: number
  /** Page size in bytes. */
  readonly pagesize: number
  /** Returns a file that is read repeatedly: kept open until the agent is closed; the same object for the same path. */
  file(path: string): ProcFile
  /** Returns the text of a file; files below /proc/ stay open. Throws Node's error (ENOENT...). */
  text(path: string): string
  /** As `text`, but '' for a missing file, which means an unsupported feature. */
  optionalText(path: string): string
  /** Returns a sysfs attribute or another small file, trimmed, read once per request; undefined if it is not readable. */
  attribute(path: string): string | undefined
  /** Returns the number in an attribute, decimal or 0x hexadecimal; undefined if it is not readable or not a number. */
  number(path: string): number | undefined
  /** Returns the sorted names in a directory, listed once per request; empty if it does not exist. */
  list(path: string): readonly string[]
  /** /proc/stat. */
  readonly stat: Reading<ProcStat>
  /** NUMA nodes of the CPUs. */
  readonly topology: Reading<Topology>
  /** Instance domain 0: CPUs, the id is the CPU's number. */
  readonly cpus: IndomSpec
  /** Instance domain 19: NUMA nodes, the id is the node's number; a kernel without NUMA has one, node0. */
  readonly nodes: IndomSpec
  /** Starts a request: clears cached attributes unless it is in the same batch as the last one. */
  begin(batch: object | undefined): void
  /** Releases the open files. */
  close(): void
}

/** Opens the context. Environment: LINUX_STATSPATH (an additional root), LINUX_HERTZ, LINUX_PAGESIZE. */
export function openContext(env: AgentEnv): LinuxContext {
  const root = rooted(env.root, env.env['LINUX_STATSPATH'] || '/')
  const files = new Map<string, ProcFile>()

  const file = (path: string): ProcFile => {
    let found = files.get(path)
    if (found === undefined) {
      found = new ProcFile(root, path)
      files.set(path, found)
    }
    return found
  }
  const text = (path: string): string =>
    path.startsWith('/proc/') ? file(path).text() : readSmallFile(root, path)
  const attributes = new Attributes(root)
  const remembered = new Map<string, string | undefined>()
  let current: object | undefined
  const attribute = (path: string): string | undefined => {
    if (remembered.has(path)) return remembered.get(path)
    const found = attributes.read(path)
    remembered.set(path, found)
    return found
  }
  const listed = new Map<string, readonly string[]>()
  const list = (path: string): readonly string[] => {
    let names = listed.get(path)
    if (names === undefined) {
      names = namesIn(rooted(root, path))
      listed.set(path, names)
    }
    return names
  }

  const columns = newStat()
  const stat = new Reading(() => parseStat(file('/proc/stat').scan(), columns))
  const topology = new Reading(() => readTopology(list, attribute))
  return {
    env,
    root,
    ...kernelUnitsFor(env.env, 'LINUX'),
    file,
    text,
    optionalText: (path) => {
      try {
        return text(path)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
        throw error
      }
    },
    attribute,
    number: (path) => parseNumber(attribute(path)),
    list,
    stat,
    topology,
    cpus: {
      serial: 0,
      reading: stat,
      instances: () => {
        const ids = stat.value.ids
        return { ids, names: ids.map((id) => `cpu${id}`) }
      },
      help: 'Processors that are online',
      text: 'One instance for each cpuN line of /proc/stat. The instance identifier is the number of the CPU.',
      labels: { device_type: 'cpu', indom_name: 'per cpu' },
      instanceLabels: (inst) => ({ cpu: inst }),
    },
    nodes: {
      serial: 19,
      reading: topology,
      instances: () => {
        const { nodes } = topology.value
        return { ids: nodes, names: nodes.map((id) => `node${id}`) }
      },
      help: 'NUMA nodes: processors with the memory that is local to them',
      text: 'One instance for each nodeN directory of /sys/devices/system/node, or node0 where the kernel was built without NUMA.',
      labels: { device_type: 'numa_node', indom_name: 'per numa_node' },
      instanceLabels: (inst) => ({ numa_node: inst }),
    },
    begin: (batch) => {
      if (batch === undefined || batch !== current) {
        remembered.clear()
        listed.clear()
      }
      current = batch
    },
    close: () => {
      attributes.close()
      for (const open of files.values()) open.close()
      files.clear()
    },
  }
}

function namesIn(directory: string): readonly string[] {
  // most kernels lack some of these directories, and an exception costs more than the check
  if (!existsSync(directory)) return []
  try {
    return readdirSync(directory).sort()
  } catch {
    return [] // removed in the meantime, or not permitted
  }
}

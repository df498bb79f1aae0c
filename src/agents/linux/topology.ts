/** NUMA nodes and their CPUs. /sys/devices/system/node */
import { parseCpuList } from '../../sys/cpu-list.ts'

/** NUMA nodes of the CPUs. */
export interface Topology {
  /** Node numbers, ascending. */
  readonly nodes: readonly number[]
  /** Returns the node of a CPU; 0 if no node lists it. */
  nodeOf(cpu: number): number
}

/**
 * Reads the node directories with `list` (names in a directory) and `attribute` (text of a file, undefined if missing). A
 * kernel built without NUMA has one node, 0, with every CPU.
 */
export function readTopology(
  list: (path: string) => readonly string[],
  attribute: (path: string) => string | undefined,
): Topology {
  const nodes = list('/sys/devices/system/node')
    .filter((name) => /^node\d+$/.test(name))
    .map((name) => Number(name.slice(4)))
    .sort((a, b) => a - b)
  if (nodes.length === 0) return { nodes: [0], nodeOf: () => 0 }
  const home = new Map<number, number>()
  for (const node of nodes) {
    for (const cpu of parseCpuList(attribute(`/sys/devices/system/node/node${node}/cpulist`) ?? ''))
      home.set(cpu, node)
  }
  return { nodes, nodeOf: (cpu) => home.get(cpu) ?? 0 }
}

/** NUMA nodes and their CPUs. /sys/devices/system/node */
import { parseCpuList } from '../../sys/cpu-list.ts'

/** Which CPUs belong to which node. */
export interface Topology {
  /** Node numbers, ascending. */
  readonly nodes: readonly number[]
  /** The node of a CPU; 0 for one that no node lists. */
  nodeOf(cpu: number): number
}

/**
 * Reads the node directories with `list` (names in a directory) and `attribute` (content of a file, undefined when
 * there is none). A kernel built without NUMA has one node, 0, with every CPU.
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

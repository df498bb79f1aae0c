/** NUMA nodes and their CPUs. /sys/devices/system/node */

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

/** Larger than any kernel's NR_CPUS: a bound for what a list may claim. */
const MAX_CPUS = 65536

/** CPU numbers of a kernel list such as `0-3,8,10-11`; what is not a list gives none. */
export function parseCpuList(text: string): readonly number[] {
  const cpus: number[] = []
  for (const part of text.trim().split(',')) {
    const range = /^(\d+)(?:-(\d+))?$/.exec(part)
    if (range === null) continue
    const first = Number(range[1])
    const last = Math.min(Number(range[2] ?? first), MAX_CPUS - 1)
    for (let cpu = first; cpu <= last; cpu++) cpus.push(cpu)
  }
  return cpus
}

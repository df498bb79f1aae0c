/** Handles and requests that keep the event loop going, by type: items 90 to 99, domain 4. */
import type { Measurement, NodeContext } from './context.ts'
import { ProcessInstances } from './family.ts'

/** Counting takes time proportional to the number of handles: its largest share of the process's time. */
const SHARE = 1 / 500

/** Counts active resources by type: sockets, timers, servers and so on. */
export function openResources(context: NodeContext): Measurement {
  const types = new ProcessInstances(context.writer, context.self, {
    serial: 4,
    help: 'Types of handles and requests, by process',
  })
  const count = types.instances.gauge('node.resources.count', {
    item: 90,
    type: 'u32',
    help: 'Handles and requests that keep the event loop going',
    text: 'From process.getActiveResourcesInfo(); read less often if there are very many.',
  })
  const known = new Set<string>()
  let notBefore = 0
  return {
    sample() {
      const start = performance.now()
      if (start < notBefore) return
      const counts = new Map<string, number>()
      for (const type of process.getActiveResourcesInfo()) counts.set(type, (counts.get(type) ?? 0) + 1)
      for (const type of counts.keys()) known.add(type)
      for (const type of known) count.of(types.of(type)).set(counts.get(type) ?? 0)
      const end = performance.now()
      notBefore = end + (end - start) / SHARE
    },
  }
}

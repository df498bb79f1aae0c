/** Pauses of the garbage collector by kind: items 50 to 59, domain 3. */
import { constants, PerformanceObserver } from 'node:perf_hooks'
import type { Measurement, NodeContext } from './context.ts'
import { ProcessInstances } from './family.ts'

const KINDS: ReadonlyMap<unknown, string> = new Map([
  [constants.NODE_PERFORMANCE_GC_MINOR, 'minor'],
  [constants.NODE_PERFORMANCE_GC_MAJOR, 'major'],
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL, 'incremental'],
  [constants.NODE_PERFORMANCE_GC_WEAKCB, 'weak_callbacks'],
])

/** Counts garbage collections and their pauses. */
export function openGc(context: NodeContext): Measurement {
  const kinds = new ProcessInstances(context.writer, context.self, {
    serial: 3,
    help: 'Kinds of garbage collection, by process',
  })
  const count = kinds.instances.counter('node.gc.count', { item: 50, help: 'Runs of the garbage collector' })
  const time = kinds.instances.counter('node.gc.time', {
    item: 51,
    help: 'Pauses for garbage collection',
    units: 'microsec',
  })
  const longest = context.gauge('gc.max', 52, 'Longest garbage collection pause of the last interval', {
    type: 'u64',
    units: 'microsec',
  })
  for (const kind of KINDS.values()) kinds.of(kind)
  let most = 0
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const { duration } = entry
      const { kind } = (entry as { readonly detail?: { readonly kind?: unknown } }).detail ?? {}
      const instance = kinds.of(KINDS.get(kind) ?? `kind_${String(kind)}`)
      count.of(instance).inc()
      time.of(instance).add(duration * 1000)
      if (duration > most) most = duration
    }
  })
  observer.observe({ entryTypes: ['gc'] })
  return {
    sample() {
      longest.set(most * 1000)
      most = 0
    },
    close: () => observer.disconnect(),
  }
}

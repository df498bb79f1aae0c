/** Memory of the process and the heap of its thread: items 20 to 49, domain 2. */
import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8'
import type { Gauge, GaugeOptions } from '../mmv/index.ts'
import type { Measurement, NodeContext } from './context.ts'
import { ProcessInstances } from './family.ts'

const BYTES: GaugeOptions = { type: 'u64', units: 'byte' }

/** Measures the memory of the process, and the heap by space. */
export function openMemory(context: NodeContext): Measurement {
  const bytes = (name: string, item: number, help: string): Gauge => context.gauge(name, item, help, BYTES)
  const usage = [
    ['rss', bytes('memory.rss', 20, 'Resident memory of the process')],
    ['external', bytes('memory.external', 21, 'Memory of C++ objects bound to JavaScript objects')],
    ['arrayBuffers', bytes('memory.array_buffers', 22, 'Memory of buffers, part of node.memory.external')],
  ] as const
  const heap = [
    ['total_heap_size', bytes('heap.total', 23, 'Heap allocated by V8')],
    ['used_heap_size', bytes('heap.used', 24, 'Heap used by objects')],
    ['heap_size_limit', bytes('heap.limit', 25, 'Heap size limit')],
    ['malloced_memory', bytes('heap.malloced', 26, 'Memory allocated by V8 outside the heap')],
  ] as const
  const contexts = [
    [
      'number_of_native_contexts',
      context.gauge('heap.contexts', 27, 'Contexts (global objects)', { type: 'u32' }),
    ],
    [
      'number_of_detached_contexts',
      context.gauge('heap.contexts_detached', 28, 'Contexts no longer used but not collected', {
        type: 'u32',
      }),
    ],
  ] as const
  const sampleSpaces = openSpaces(context)
  return {
    sample() {
      const memory = process.memoryUsage()
      for (const [key, gauge] of usage) gauge.set(memory[key])
      const statistics = getHeapStatistics()
      for (const [key, gauge] of [...heap, ...contexts]) gauge.set(statistics[key])
      sampleSpaces()
    },
  }
}

/** Declares the spaces of the heap: new objects, old ones, code and so on. */
function openSpaces({ writer, self }: NodeContext): () => void {
  const spaces = new ProcessInstances(writer, self, { serial: 2, help: 'Spaces of the heap, by process' })
  const metrics = [
    ['space_size', 'size', 'Size of a space of the heap'],
    ['space_used_size', 'used', 'Used part of a space of the heap'],
    ['space_available_size', 'available', 'Free part of a space of the heap'],
    ['physical_space_size', 'physical', 'Physical memory of a space of the heap'],
  ] as const
  const gauges = metrics.map(
    ([key, name, help], i) =>
      [key, spaces.instances.gauge(`node.heap.space.${name}`, { item: 30 + i, help, ...BYTES })] as const,
  )
  return () => {
    for (const space of getHeapSpaceStatistics()) {
      const instance = spaces.of(space.space_name)
      for (const [key, gauge] of gauges) gauge.of(instance).set(space[key])
    }
  }
}

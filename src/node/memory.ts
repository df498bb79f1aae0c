/** Memory of the process and the heap of its thread: items 20 to 49, domain 2. */
import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8'
import type { Gauge, GaugeOptions } from '../mmv/index.ts'
import type { NodeContext, Part } from './context.ts'
import { Family } from './family.ts'

const BYTES: GaugeOptions = { type: 'u64', units: 'byte' }

/** Memory as a whole and, for the heap, by space. */
export function openMemory(context: NodeContext): Part {
  const bytes = (name: string, item: number, help: string): Gauge => context.gauge(name, item, help, BYTES)
  const usage = [
    ['rss', bytes('memory.rss', 20, 'Memory of the process that is resident')],
    ['external', bytes('memory.external', 21, 'Memory of C++ objects that JavaScript objects stand for')],
    ['arrayBuffers', bytes('memory.array_buffers', 22, 'Memory of buffers, part of node.memory.external')],
  ] as const
  const heap = [
    ['total_heap_size', bytes('heap.total', 23, 'Heap that V8 has taken')],
    ['used_heap_size', bytes('heap.used', 24, 'Heap that objects take')],
    ['heap_size_limit', bytes('heap.limit', 25, 'Heap beyond which the process ends')],
    ['malloced_memory', bytes('heap.malloced', 26, 'Memory that V8 allocated beside the heap')],
  ] as const
  const contexts = [
    [
      'number_of_native_contexts',
      context.gauge('heap.contexts', 27, 'Contexts: global objects and their like', { type: 'u32' }),
    ],
    [
      'number_of_detached_contexts',
      context.gauge('heap.contexts_detached', 28, 'Contexts that are not used, and not collected', {
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

/** The spaces of the heap: new objects, old ones, code and so on. */
function openSpaces({ writer, self }: NodeContext): () => void {
  const spaces = new Family(writer, self, { serial: 2, help: 'Spaces of the heap, by process' })
  const metrics = [
    ['space_size', 'size', 'Size of a space of the heap'],
    ['space_used_size', 'used', 'What objects take of a space of the heap'],
    ['space_available_size', 'available', 'What is free in a space of the heap'],
    ['physical_space_size', 'physical', 'Memory behind a space of the heap'],
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

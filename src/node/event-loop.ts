/** Delay and utilisation of the event loop: items 0 to 19. */
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import type { NodeContext, Part } from './context.ts'

/** Milliseconds between two looks at the delay: each costs some microseconds. */
const RESOLUTION_MS = 20

/** How late timers are, and how much of its time the loop works. */
export function openEventLoop(context: NodeContext): Part {
  const text = `Of the last interval, seen by a timer of ${RESOLUTION_MS} milliseconds: what it comes too late.`
  const delay = (name: string, item: number, help: string) =>
    context.gauge(`eventloop.delay.${name}`, item, help, { type: 'u64', units: 'microsec', text })
  const percentiles = [50, 90, 99].map(
    (percent, i) =>
      [percent, delay(`p${percent}`, i, `Delay of the event loop: ${percent} % are below`)] as const,
  )
  const max = delay('max', 3, 'Longest delay of the event loop')
  const mean = delay('mean', 4, 'Mean delay of the event loop')
  const active = context.counter('eventloop.active', 5, 'Time in which the event loop worked', {
    units: 'microsec',
  })
  const idle = context.counter('eventloop.idle', 6, 'Time in which the event loop waited', {
    units: 'microsec',
  })
  const utilization = context.gauge(
    'eventloop.utilization',
    7,
    'Share of time in which the event loop worked',
    {
      text: 'Of the last interval, from 0 to 1. The rate of node.eventloop.active says the same of any interval.',
    },
  )
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  histogram.enable()
  let last = performance.eventLoopUtilization()
  return {
    sample() {
      // The histogram holds the time between two looks, in nanoseconds.
      const lateness = (ns: number): number =>
        histogram.count === 0 ? Number.NaN : Math.max(0, ns / 1000 - RESOLUTION_MS * 1000)
      for (const [percent, gauge] of percentiles) gauge.set(lateness(histogram.percentile(percent)))
      max.set(lateness(histogram.max))
      mean.set(lateness(histogram.mean))
      histogram.reset()
      const now = performance.eventLoopUtilization()
      active.set(now.active * 1000)
      idle.set(now.idle * 1000)
      utilization.set(performance.eventLoopUtilization(now, last).utilization)
      last = now
    },
    close: () => void histogram.disable(),
  }
}

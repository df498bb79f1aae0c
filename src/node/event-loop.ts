/** Delay and utilisation of the event loop: items 0 to 19. */
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import type { Measurement, NodeContext } from './context.ts'

/** Interval in milliseconds at which the delay is sampled: each sample takes some microseconds. */
const RESOLUTION_MS = 20

/** Measures the delay of timers and the utilisation of the loop. */
export function openEventLoop(context: NodeContext): Measurement {
  const text = `Of the last interval: how late a timer of ${RESOLUTION_MS} milliseconds fires.`
  const delay = (name: string, item: number, help: string) =>
    context.gauge(`eventloop.delay.${name}`, item, help, { type: 'u64', units: 'microsec', text })
  const percentiles = [50, 90, 99].map(
    (percent, i) =>
      [percent, delay(`p${percent}`, i, `Delay of the event loop, percentile ${percent}`)] as const,
  )
  const max = delay('max', 3, 'Longest delay of the event loop')
  const mean = delay('mean', 4, 'Mean delay of the event loop')
  const active = context.counter('eventloop.active', 5, 'Time the event loop was active', {
    units: 'microsec',
  })
  const idle = context.counter('eventloop.idle', 6, 'Time the event loop was idle', {
    units: 'microsec',
  })
  const utilization = context.gauge('eventloop.utilization', 7, 'Share of time the event loop was active', {
    text: 'Of the last interval, from 0 to 1. For other intervals use the rate of node.eventloop.active.',
  })
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  histogram.enable()
  let last = performance.eventLoopUtilization()
  return {
    sample() {
      // The histogram holds the time between two samples, in nanoseconds.
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

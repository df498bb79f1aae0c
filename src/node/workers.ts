/** Worker threads started by this thread: items 150 to 159, domain 10. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { EventLoopUtilization } from 'node:perf_hooks'
import type { Worker } from 'node:worker_threads'
import type { Measurement, NodeContext } from './context.ts'
import { ProcessInstances } from './family.ts'
import { fileName } from './files.ts'

const CHANNEL = 'worker_threads'

/** A running thread. */
interface Running {
  readonly worker: Worker
  readonly thread: number
  readonly part: string
  last: EventLoopUtilization
}

/** Counts threads and their utilisation as seen from here; a thread that registers itself reports more. */
export function openWorkers(context: NodeContext): Measurement {
  const active = context.gauge('workers.active', 150, 'Running worker threads', { type: 'u32', initial: 0 })
  const started = context.counter('workers.started', 151, 'Started worker threads')
  const failed = context.counter(
    'workers.failed',
    152,
    'Worker threads that ended with an exit code or an error',
  )
  const threads = new ProcessInstances(context.writer, context.self, {
    serial: 10,
    help: 'Worker threads, by process',
  })
  const busy = threads.instances.counter('node.worker.active', {
    item: 153,
    help: 'Time the event loop of a worker thread was active',
    units: 'microsec',
  })
  const utilization = threads.instances.gauge('node.worker.utilization', {
    item: 154,
    help: 'Share of time the event loop of a worker thread was active in the last interval',
  })
  const running = new Map<Worker, Running>()
  const onStart = (message: unknown): void => {
    const { worker } = message as { readonly worker: Worker }
    const { threadId } = worker
    const one = {
      worker,
      thread: threadId,
      part: `thread-${threadId}`,
      last: worker.performance.eventLoopUtilization(),
    }
    running.set(worker, one)
    started.inc()
    active.inc()
    worker.once('exit', (code) => {
      running.delete(worker)
      active.dec()
      if (code !== 0) failed.inc()
      threads.remove(one.part)
      removeFile(one)
    })
  }
  // Terminated threads, and all threads at the end of the process, cannot remove their files.
  const removeFile = ({ thread }: Running): void =>
    rmSync(join(dirname(context.writer.path), fileName(process.pid, thread)), { force: true })
  const onExit = (): void => {
    for (const one of running.values()) removeFile(one)
  }
  subscribe(CHANNEL, onStart)
  process.once('exit', onExit)
  return {
    sample() {
      for (const one of running.values()) {
        const now = one.worker.performance.eventLoopUtilization()
        const instance = threads.of(one.part)
        busy.of(instance).set(now.active * 1000)
        utilization.of(instance).set(one.worker.performance.eventLoopUtilization(now, one.last).utilization)
        one.last = now
      }
    },
    close() {
      unsubscribe(CHANNEL, onStart)
      process.off('exit', onExit)
    },
  }
}

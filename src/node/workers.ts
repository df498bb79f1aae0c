/** Threads that this one has started: items 150 to 159, domain 10. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { EventLoopUtilization } from 'node:perf_hooks'
import type { Worker } from 'node:worker_threads'
import type { NodeContext, Part } from './context.ts'
import { Family } from './family.ts'
import { fileName } from './place.ts'

const CHANNEL = 'worker_threads'

/** A thread that runs. */
interface Running {
  readonly worker: Worker
  readonly thread: number
  readonly part: string
  last: EventLoopUtilization
}

/** How many there are and, seen from here, how busy: a thread that is measured itself tells more. */
export function openWorkers(context: NodeContext): Part {
  const active = context.gauge('workers.active', 150, 'Worker threads that run', { type: 'u32', initial: 0 })
  const started = context.counter('workers.started', 151, 'Worker threads that were started')
  const failed = context.counter(
    'workers.failed',
    152,
    'Worker threads that ended with an exit code or an error',
  )
  const threads = new Family(context.writer, context.self, { serial: 10, help: 'Worker threads, by process' })
  const busy = threads.instances.counter('node.worker.active', {
    item: 153,
    help: 'Time in which the event loop of a worker thread worked',
    units: 'microsec',
  })
  const utilization = threads.instances.gauge('node.worker.utilization', {
    item: 154,
    help: 'Share of time in which the event loop of a worker thread worked, of the last interval',
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
  // A thread that is terminated has no time to take its file away, and so have all when the process ends.
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

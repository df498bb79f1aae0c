/** Counts messages of the diagnostics channels that the application names: items 140 to 149, domain 9. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Measurement, NodeContext } from './context.ts'
import { ProcessInstances } from './family.ts'

const TRACING = 'tracing:'

/** Counts messages; for tracing channels calls, their time and their errors. */
export function openChannels(context: NodeContext): Measurement {
  const names = context.options.channels ?? []
  const channels = new ProcessInstances(context.writer, context.self, {
    serial: 9,
    help: 'Diagnostics channels, by process',
  })
  const { instances } = channels
  const messages = instances.counter('node.channel.messages', {
    item: 140,
    help: 'Messages of a diagnostics channel, or finished calls of a tracing channel',
  })
  const time = instances.counter('node.channel.time', {
    item: 141,
    help: 'Time of the calls of a tracing channel',
    units: 'microsec',
  })
  const errors = instances.counter('node.channel.errors', {
    item: 142,
    help: 'Errors reported by a tracing channel',
  })
  const closers = names.map((name) => {
    const instance = channels.of(name)
    const counters = { messages: messages.of(instance), time: time.of(instance), errors: errors.of(instance) }
    if (name.startsWith(TRACING)) return trace(name, counters)
    return listen(name, () => counters.messages.inc())
  })
  return {
    close() {
      for (const close of closers) close()
    },
  }
}

type Count = { inc(): void; add(amount: number): void }

/** Subscribes to the events of a tracing channel. One object per call is passed to all of them. */
function trace(
  name: string,
  { messages, time, errors }: { readonly messages: Count; readonly time: Count; readonly errors: Count },
): () => void {
  const begun = new WeakMap<object, number>()
  const end = (call: unknown): void => {
    const start = begun.get(call as object)
    if (start === undefined) return
    begun.delete(call as object)
    messages.inc()
    time.add((performance.now() - start) * 1000)
  }
  const closers = [
    listen(`${name}:start`, (call) => void begun.set(call as object, performance.now())),
    listen(`${name}:error`, () => errors.inc()),
    // `end` without a result or error means that the call continues asynchronously.
    listen(`${name}:end`, (call) => {
      if ('result' in (call as object) || 'error' in (call as object)) end(call)
    }),
    listen(`${name}:asyncStart`, end),
  ]
  return () => {
    for (const close of closers) close()
  }
}

function listen(channel: string, listener: (message: unknown) => void): () => void {
  subscribe(channel, listener)
  return () => void unsubscribe(channel, listener)
}

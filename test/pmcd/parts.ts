/** Fixtures for tests of the collector: agents in memory, and a client whose socket is an array. */

import { ByteBudget } from '../../src/base/byte-budget.ts'
import { replaceDebug } from '../../src/model/debug.ts'
import type { Outcome } from '../../src/model/errors.ts'
import type { MetricSource } from '../../src/model/source.ts'
import type { ValueSet } from '../../src/model/values.ts'
import { Client, type ClientConnection, type ClientHost } from '../../src/pmcd/client.ts'
import { EventTrace } from '../../src/pmcd/event-trace.ts'
import { FetchBatch } from '../../src/pmcd/fetch-batch.ts'
import type { AgentOptions } from '../../src/pmcd/options.ts'
import { WorkQueue } from '../../src/pmcd/work-queue.ts'
import { defineAgent } from '../../src/pmda/define-agent.ts'
import { openAgent } from '../../src/pmda/open-agent.ts'
import { Pmns } from '../../src/pmns/tree.ts'
import { AgentSlot } from '../../src/routing/agent-slot.ts'
import { Router } from '../../src/routing/router.ts'
import { encodeCreds } from '../../src/wire/creds.ts'

/** Records nothing. */
export const QUIET: EventTrace = new EventTrace(() => {})

/** Diagnostics that are on from the start. */
export interface DiagnosticSettings {
  /** Sum of TRACE_*. */
  readonly traceMask?: number
  /** Names of -D. */
  readonly debug?: ReadonlySet<string>
}

/** Enables diagnostics like a collector process; returns its event trace. */
export function diagnose(
  { traceMask = 0, debug }: DiagnosticSettings,
  write: (line: string) => void,
): EventTrace {
  replaceDebug(debug ?? new Set(), write)
  return new EventTrace(write, Date.now, traceMask)
}

/** Returns an agent with metrics `NAME.one` (1) and `NAME.two` (2, stores are kept) and an instance domain. */
export function memoryAgent(name: string, domain: number): MetricSource {
  let two = 2
  const indom = { serial: 1, instances: { red: 0, green: 1 }, help: 'colours' }
  const common = { type: 'u32', sem: 'instant', units: 'none' } as const
  return openAgent(
    defineAgent({
      name,
      domain,
      metrics: {
        [`${name}.one`]: { ...common, item: 1, help: 'always one', value: () => 1 },
        [`${name}.two`]: {
          ...common,
          item: 2,
          help: 'two until stored',
          value: () => two,
          store: (value) => {
            two = Number(value)
          },
        },
        [`${name}.colour`]: { ...common, item: 3, indom, help: 'by colour', value: (inst) => inst },
      },
    }),
    { domain },
  )
}

/** Returns a connected slot for a source. */
export async function slotOf(
  name: string,
  domain: number,
  source: MetricSource,
  kind: AgentOptions['kind'] = 'dso',
): Promise<{ slot: AgentSlot; heard: string[] }> {
  const heard: string[] = []
  const slot = new AgentSlot(
    { name, domain, kind, parameters: '' },
    { open: async () => ({ source }), credsTimeoutMs: () => 3000 },
    {
      started: () => heard.push('started'),
      changed: (_slot, changes) => heard.push(`changed ${changes}`),
      lost: () => heard.push('lost'),
      ready: () => heard.push('ready'),
    },
  )
  await slot.start()
  return { slot, heard }
}

/** Returns a name space of the given names. */
export function pmnsOf(names: Readonly<Record<string, number>>): Pmns {
  const pmns = new Pmns()
  for (const [name, id] of Object.entries(names)) pmns.add(name, id)
  return pmns
}

/** Returns a router over connected agents. */
export async function routerOf(
  agents: readonly (readonly [name: string, domain: number, source: MetricSource])[],
  pmns: Pmns = new Pmns(),
): Promise<{ router: Router; slots: AgentSlot[] }> {
  const slots: AgentSlot[] = []
  for (const [name, domain, source] of agents) slots.push((await slotOf(name, domain, source)).slot)
  const contextLabels = () => ({ inst: -1, status: 0, json: '', labels: [] })
  const router = new Router({ slots, pmns }, { contextLabels, changed: () => {} })
  return { router, slots }
}

/** A client whose socket is `sent`. */
export interface TestClient {
  readonly client: Client
  /** PDUs sent to the client, starting with the challenge. */
  readonly sent: Uint8Array[]
  readonly events: string[]
  /** Resolves when this many PDUs were sent, including the challenge. */
  readonly arrived: (count: number) => Promise<void>
}

/** Connects a client to a source; with `greets`, the handshake is complete. */
export function connectClient(
  source: MetricSource,
  settings: { host?: Partial<ClientHost>; denied?: number; greets?: boolean; slot?: number } = {},
): TestClient {
  const sent: Uint8Array[] = []
  const events: string[] = []
  let check = (): void => {}
  const connection: ClientConnection = {
    send: (pdu) => {
      sent.push(pdu)
      check()
    },
    close: async () => {
      events.push('close')
    },
    destroy: () => events.push('destroy'),
    pause: () => events.push('pause'),
    resume: () => events.push('resume'),
  }
  const host: ClientHost = {
    source,
    batch: new FetchBatch(),
    work: new WorkQueue(),
    budget: new ByteBudget({ each: 2 ** 30, all: 2 ** 30 }, () => undefined),
    limits: { pduBytes: 65536, contexts: 64, metrics: 32768 },
    features: 0x0e40,
    identified: () => events.push('introduced'),
    violation: () => events.push('violation'),
    ...settings.host,
  }
  const identity = { slot: settings.slot ?? 0, seq: 7, fd: 5, address: '::1', origin: 'loopback', startMs: 0 }
  const client = new Client(identity, connection, host, settings.denied ?? 0)
  if (settings.greets ?? true) client.receive(encodeCreds(0))
  const arrived = (count: number): Promise<void> =>
    new Promise((resolve) => {
      check = () => {
        if (sent.length >= count) resolve()
      }
      check()
    })
  return { client, sent, events, arrived }
}

/** Returns statuses and first words of value sets. */
export function summary(sets: readonly ValueSet[]): number[] {
  return sets.map((set) => (set.status < 0 ? set.status : (set.word[0] ?? 0)))
}

/** Returns the code of an error, or the item. */
export function codeOrItem<T>(outcome: Outcome<T>): unknown {
  return outcome instanceof Error ? outcome.code : outcome
}

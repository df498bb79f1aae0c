/** Local contexts: agents in this process, without a collector. pmNewContext(3) PM_CONTEXT_LOCAL, docs/pmapi.md */
import { PcpError } from '../model/errors.ts'
import type { LabelSet } from '../model/labels.ts'
import type { Ask, Credentials, MetricSource } from '../model/source.ts'
import type { Pmns } from '../pmns/tree.ts'
import type { Clock } from './clock.ts'
import { Context } from './context.ts'
import type { DerivedSetup } from './derived.ts'
import { type Route, Router } from './router.ts'

/** An open agent and the domain it answers for. */
export interface LocalAgent {
  readonly domain: number
  readonly source: MetricSource
}

/** What a local context has besides its agents. */
export interface LocalOptions {
  /** Names of metrics. */
  readonly names: Pmns
  readonly hostname: string
  /** Who asks the agents. */
  readonly credentials: Credentials
  /** Labels of the host as the requester sees them. */
  readonly contextLabels: (ask: Ask) => LabelSet
  readonly clock?: Clock
  /** Derived metrics; default: those of `registerDerived`. */
  readonly derived?: () => DerivedSetup
}

const NOAGENT = new PcpError('PM_ERR_NOAGENT', 'No agent in this process answers for the domain')

/** Where questions about domains without an agent go. */
const NOBODY: Route = {
  domain: -1,
  refusal: NOAGENT.status,
  ask: () => Promise.reject(NOAGENT),
  endClient() {},
}

/** A context over agents in this process; its `close` closes them. */
export function localContext(agents: readonly LocalAgent[], options: LocalOptions): Context {
  const { names, contextLabels, hostname, credentials, clock, derived } = options
  const router: Router = new Router(
    { slots: agents.map(routeTo), others: NOBODY, pmns: names },
    {
      contextLabels,
      changed: (changes) => router.announce({ type: 'changed', changes }),
      close: async () => {
        await Promise.all(agents.map(({ source }) => source.close()))
      },
    },
  )
  for (const { source } of agents) source.subscribe((event) => router.announce(event))
  return Context.over(router, {
    hostname,
    credentials,
    ...(clock === undefined ? {} : { clock }),
    ...(derived === undefined ? {} : { derived }),
  })
}

function routeTo({ domain, source }: LocalAgent): Route {
  return {
    domain,
    refusal: 0,
    ask: (question) => question(source),
    endClient: (client) => source.endClient?.(client),
  }
}

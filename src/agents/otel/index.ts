/** The otel agent (domain 508): metrics that applications send by OTLP. docs/reference/agents/otel.md */
import { every } from '../../base/every.ts'
import { PcpError } from '../../model/errors.ts'
import type { AgentEnv, AgentTables } from '../../pmda/define.ts'
import { type AgentDefinition, defineAgent } from '../../pmda/define-agent.ts'
import { controlMetrics, type OtelState } from './controls.ts'
import { Families } from './families.ts'
import { Receiver } from './receiver.ts'
import { familyTables } from './tables.ts'

/** The agent for the collector's registry. */
export const agent: AgentDefinition = defineAgent({
  name: 'otel',
  domain: 508,
  options: [
    { long: 'address', arg: 'ADDR', help: 'address to receive on (default: 127.0.0.1)' },
    { long: 'port', arg: 'PORT', help: 'TCP port to receive on, 0 for any (default: 4318)' },
  ],
  open,
})

const ROOT = 'otel'
const DEFAULT_PORT = 4318
const DEFAULT_STALE_MS = 300_000
/** Interval at which stale series are removed and identifiers are saved. */
const SWEEP_MS = 5000
/** Most files saved at a time: each takes some milliseconds, during which requests wait. */
const MAX_SAVES = 20

function open(env: AgentEnv): AgentTables {
  const state: OtelState = {
    requests: 0,
    refused: 0,
    bytes: 0,
    points: 0,
    rejected: 0,
    staleMs: DEFAULT_STALE_MS,
    lastProblem: '',
  }
  const controls = controlMetrics(ROOT, state, {
    port: () => receiver.port,
    series: () => families.seriesCount,
    metrics: () => families.familyCount,
  })
  const families = new Families(env, ROOT, Object.keys(controls))
  const receiver = new Receiver({
    address: setting(env, 'address') ?? '127.0.0.1',
    port: portOf(setting(env, 'port')),
    take: (metrics, bytes) => {
      const taken = families.ingest(metrics)
      state.requests++
      state.bytes += bytes
      state.points += taken.points
      state.rejected += taken.rejected
      state.lastProblem = taken.why ?? state.lastProblem
      if (taken.hasNewFamilies) replace()
      return taken
    },
    onRefused: (status, why) => {
      state.refused++
      state.lastProblem = `${status}: ${why}`
    },
    warn: (text) => env.log('warning', text),
  })
  const sweep = every(
    SWEEP_MS,
    () => {
      families.expire(state.staleMs)
      save(MAX_SAVES)
    },
    (error) => env.log('warning', PcpError.from(error).message),
  )
  sweep.unref()
  const tables = (): AgentTables => ({
    ...familyTables(ROOT, families, controls),
    dynamicRoots: [ROOT],
    beforeRequest: () => families.expire(state.staleMs),
    close: () => {
      clearInterval(sweep)
      receiver.close()
      save(Number.POSITIVE_INFINITY)
    },
  })
  function replace(): void {
    try {
      env.replaceTables(tables())
    } catch (error) {
      env.log('error', PcpError.from(error).message) // the old tables stay
    }
  }
  let said = ''
  function save(most: number): void {
    try {
      families.save(most)
    } catch (error) {
      const text = `Instance identifiers cannot be saved: ${PcpError.from(error).message}`
      if (text !== said) env.log('warning', text)
      said = text
    }
  }
  return tables()
}

/** An option of the daemon or, in a collector, its environment variable. */
function setting({ env, options }: AgentEnv, name: 'address' | 'port'): string | undefined {
  const given = options[name]
  return typeof given === 'string' ? given : env[`PCP_OTEL_${name.toUpperCase()}`]
}

function portOf(text: string | undefined): number {
  if (text === undefined) return DEFAULT_PORT
  const port = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (!(port <= 65_535))
    throw new PcpError('PM_ERR_GENERIC', `The port is "${text}": it must be a number from 0 to 65535`)
  return port
}

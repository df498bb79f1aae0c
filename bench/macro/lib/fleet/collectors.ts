/** Collectors of made-up hosts in one process: each has a loopback address of its own and the same port. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { LABEL_CONTEXT } from '../../../../src/model/labels.ts'
import { startCollector } from '../../../../src/pmcd/collector.ts'
import { builtinAgents } from '../../../../src/pmcd/open-agents.ts'
import type { AgentOptions } from '../../../../src/pmcd/options.ts'
import type { AgentTables, IndomSpec, MetricSpec } from '../../../../src/pmda/define.ts'
import { defineAgent } from '../../../../src/pmda/define-agent.ts'
import { openAgent } from '../../../../src/pmda/open-agent.ts'
import type { Log } from '../../../../src/sys/log.ts'
import {
  FLEET_DOMAIN,
  FLEET_INSTANCES,
  type FleetMetric,
  hostAddress,
  hostLabels,
  hostName,
  valueAt,
} from './metrics.ts'

const SILENT: Log = { fd: 2, notice: () => undefined, line: () => undefined, close: () => undefined }

/** Serves `hosts` hosts: PCP's protocol at `port`, and the same values for Prometheus at `port + 1`. Resolves when all accept clients. */
export async function serveFleet(
  hosts: number,
  port: number,
  metrics: readonly FleetMetric[],
): Promise<void> {
  const indoms = fleetIndoms()
  for (let host = 0; host < hosts; host++) {
    const labels = Object.entries({ hostname: hostName(host), ...hostLabels(host) })
    const intrinsic = labels.map(
      ([name, value]) => [name, { name, value: JSON.stringify(value), flags: LABEL_CONTEXT }] as const,
    )
    await startCollector({
      agents: [...builtinAgents(['pmcd']), fleetAgent(host, metrics, indoms)],
      ports: [port],
      addresses: [hostAddress(host)],
      hostname: hostName(host),
      log: SILENT,
      readLabels: () => ({ files: new Map(), intrinsic: new Map(intrinsic), problems: [] }),
    })
    const web = createServer((_, reply) => {
      reply.setHeader('content-type', 'text/plain; version=0.0.4')
      reply.end(exposition(host, metrics, Date.now() / 1000))
    })
    web.listen(port + 1, hostAddress(host))
    await once(web, 'listening')
  }
  console.log('ready')
}

/** Returns the values of a host in Prometheus's text format. */
function exposition(host: number, metrics: readonly FleetMetric[], sec: number): string {
  const lines: string[] = []
  for (const metric of metrics) {
    const name = metric.name.replaceAll('.', '_')
    lines.push(`# TYPE ${name} ${metric.sem === 'counter' ? 'counter' : 'gauge'}`)
    const names = metric.serial === undefined ? undefined : FLEET_INSTANCES.get(metric.serial)!
    metric.instances.forEach((inst, i) => {
      const labels = names === undefined ? '' : `{instname="${names[i]}"}`
      lines.push(`${name}${labels} ${valueAt(host, metric, inst, sec)}`)
    })
  }
  return `${lines.join('\n')}\n`
}

/** Runs them in a process of its own: this program, called with `collect HOSTS PORT METRICS`. */
export async function spawnCollectors(hosts: number, port: number, metrics: number): Promise<ChildProcess> {
  const args = [
    '--max-old-space-size=8000',
    process.argv[1]!,
    'collect',
    String(hosts),
    String(port),
    String(metrics),
  ]
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  await Promise.race([
    once(child.stdout!, 'data'),
    once(child, 'exit').then(() => Promise.reject(new Error('The collectors did not start'))),
  ])
  return child
}

function fleetIndoms(): ReadonlyMap<number, IndomSpec> {
  const indoms = new Map<number, IndomSpec>()
  for (const [serial, names] of FLEET_INSTANCES)
    indoms.set(serial, {
      serial,
      instances: Object.fromEntries(names.map((name, i) => [name, i])),
      help: `Instances ${names.join(', ')}`,
    })
  return indoms
}

function fleetAgent(
  host: number,
  metrics: readonly FleetMetric[],
  indoms: ReadonlyMap<number, IndomSpec>,
): AgentOptions {
  let sec = 0
  const specs: Record<string, MetricSpec> = {}
  for (const metric of metrics) {
    const { name, cluster, item, type, sem, units, serial } = metric
    specs[name] = {
      ...{ cluster, item, type, sem, units, help: `Made up: ${name}` },
      ...(serial === undefined ? {} : { indom: indoms.get(serial)! }),
      value: (inst) => valueAt(host, metric, inst, sec),
    }
  }
  const definition = defineAgent({
    name: 'fleet',
    domain: FLEET_DOMAIN,
    open: (): AgentTables => ({
      beforeFetch: () => {
        sec = Date.now() / 1000
      },
      metrics: specs,
    }),
  })
  return {
    name: 'fleet',
    domain: FLEET_DOMAIN,
    kind: 'dso',
    parameters: 'made up',
    open: async () => ({ source: openAgent(definition) }),
  }
}

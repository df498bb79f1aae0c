/** Runs the collector of `npm start`, with its agents, as a separate process. docs/start.md */
import { hostname } from 'node:os'
import { startCollector } from '../pmcd/collector.ts'
import { builtinAgents } from '../pmcd/open-agents.ts'
import { killWithStuckThreads, stuckThreads } from '../pmcd/open-worker.ts'
import type { Collector, CollectorOptions } from '../pmcd/options.ts'
import { securityOf } from '../pmcd/security.ts'
import { readHostLabels } from '../routing/host-labels.ts'
import { openLog } from '../sys/log.ts'
import { peerCredentials } from '../sys/native/peer-credentials.ts'
import { type PartIo, type RunningPart, runPart } from './part-main.ts'
import type { CollectorAddress, PartSetup } from './parts.ts'
import { failureOf } from './ports.ts'

async function begin(setup: PartSetup, { signal }: PartIo): Promise<RunningPart> {
  const { options, agents, place, variables, socketPath, restartMs } = setup
  const log = openLog(place.logPath, { progname: 'pmcd', host: hostname() })
  const collectorOptions: CollectorOptions = {
    agents: builtinAgents(agents, options.threads).sort((a, b) => a.domain - b.domain),
    // Our agents do start, however long that takes on a busy machine.
    credsTimeoutSec: 60,
    ports: [options.port],
    ...endpointsOf(setup),
    ...(socketPath === undefined ? {} : { socketPath }),
    ...(restartMs === undefined ? {} : { restartIntervalMs: restartMs }),
    hostname: hostname(),
    log,
    variables,
    peerCredentials: peerCredentials(),
    security: securityOf(variables, log),
    readLabels: () =>
      readHostLabels({ sysconfDir: place.variables['PCP_SYSCONF_DIR']!, hostname: hostname(), root: '/' }),
  }
  let collector: Collector
  try {
    collector = await startCollector(collectorOptions, signal)
  } catch (error) {
    log.close()
    throw error
  }
  const close = async (): Promise<void> => {
    await collector.close()
    log.close()
    if ((await stuckThreads()) > 0) killWithStuckThreads()
  }
  const failure = failureOf(collector.endpoints)
  if (failure !== undefined) {
    await close()
    throw failure
  }
  const report: CollectorAddress = {
    port: collector.port,
    hasSocket: collector.endpoints.some(({ family, error }) => family === 'unix' && error === undefined),
  }
  return { report, close }
}

function endpointsOf({ options: { listen } }: PartSetup): Partial<CollectorOptions> {
  if (listen === undefined) return { localOnly: true }
  return listen.includes('all') ? {} : { addresses: listen }
}

runPart(begin)

/** Runs the collector of `npm start`, with its agents, as a separate process. docs/start/npm-start.md */
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { PcpError } from '../model/errors.ts'
import { startCollector } from '../pmcd/collector.ts'
import { FileConfiguration } from '../pmcd/configuration.ts'
import { builtinAgents } from '../pmcd/open-agents.ts'
import { killWithStuckThreads, stuckThreads } from '../pmcd/open-worker.ts'
import type { Collector, CollectorOptions, Configuration } from '../pmcd/options.ts'
import { processSecurity } from '../pmcd/security.ts'
import { readHostLabels } from '../routing/host-labels.ts'
import type { Log } from '../sys/log.ts'
import { peerCredentials } from '../sys/native/peer-credentials.ts'
import { removePidFile, writePidFile } from '../sys/service-files.ts'
import { trustedPath } from '../sys/trusted-path.ts'
import { pidPath } from './directories.ts'
import { openPartLog } from './part-log.ts'
import { type PartIo, type RunningPart, runPart } from './part-main.ts'
import type { CollectorAddress, PartSetup } from './parts.ts'
import { portError } from './ports.ts'

async function begin(setup: PartSetup, { signal, say }: PartIo): Promise<RunningPart> {
  const { options, place, socketPath, restartMs } = setup
  const variables = withHotProcesses(setup)
  const log = openPartLog(place.logPath, { progname: 'pmcd', host: hostname() }, options)
  const files = configuration(setup, log)
  const collectorOptions: CollectorOptions = {
    ...(await readFirst(files, setup, say)),
    reload: () => files.reload(),
    agentDir: dirname(place.logPath),
    // Built-in agents start reliably, but may take long on a busy machine.
    credsTimeoutSec: 60,
    ports: [options.port],
    ...endpointsOf(setup),
    ...(socketPath === undefined ? {} : { socketPath }),
    ...(restartMs === undefined ? {} : { restartIntervalMs: restartMs }),
    hostname: hostname(),
    log,
    variables,
    peerCredentials: peerCredentials(),
    security: processSecurity(variables, log),
    readLabels: () =>
      readHostLabels({
        sysconfDir: place.variables['PCP_SYSCONF_DIR']!,
        hostname: hostname(),
        root: variables['HOST_MOUNT'] || '/',
      }),
  }
  let collector: Collector
  try {
    collector = await startCollector(collectorOptions, signal)
  } catch (error) {
    log.close()
    throw error
  }
  const hangup = (): void => void collector.reconfigure()
  process.on('SIGHUP', hangup)
  // Commands that change pmcd.conf find the process to signal by it.
  const pidFile = writePidFile(pidPath(place), log, describe)
  const close = async (): Promise<void> => {
    process.off('SIGHUP', hangup)
    if (pidFile !== undefined) removePidFile(pidFile, log, describe)
    await collector.close()
    log.close()
    if ((await stuckThreads()) > 0) killWithStuckThreads()
  }
  const failure = portError(collector.endpoints)
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

/** Busiest processes by each resource of which the recorder keeps values. docs/decisions/process-history.md */
const HOT_TOP = '5'

/** Lets the proc agent choose the processes that are recorded, unless the user has set another number. */
function withHotProcesses({ options, variables }: PartSetup): PartSetup['variables'] {
  return options.records ? { PROC_HOT_TOP: HOT_TOP, ...variables } : variables
}

const describe = (error: unknown, what: string): string => PcpError.from(error, what).message

/** The agents of the options, and those of pmcd.conf in the settings. */
function configuration({ options, agents, place, variables }: PartSetup, log: Log): FileConfiguration {
  const builtin = builtinAgents(agents, options.threads).sort((a, b) => a.domain - b.domain)
  return new FileConfiguration({
    configPath: place.variables['PCP_PMCDCONF_PATH']!,
    builtin,
    assertTrusted: (path) => void trustedPath(path, TRUST_ADVICE),
    pmnsPath: undefined,
    isPmnsUnique: false,
    variables,
    log,
  })
}

const TRUST_ADVICE = 'an agent must be writable by you alone: see docs/how-to/add-an-agent.md'

/** A defect of pmcd.conf is reported, and must not keep the other agents from running. */
async function readFirst(
  files: FileConfiguration,
  { place }: PartSetup,
  say: PartIo['say'],
): Promise<Configuration> {
  try {
    return await files.read()
  } catch (error) {
    say(`agents: ${PcpError.from(error).message}; only those of pcp-ts run, see ${place.logPath}`)
    return files.withoutFile()
  }
}

function endpointsOf({ options: { listen } }: PartSetup): Partial<CollectorOptions> {
  if (listen === undefined) return { localOnly: true }
  return listen.includes('all') ? {} : { addresses: listen }
}

runPart(begin)

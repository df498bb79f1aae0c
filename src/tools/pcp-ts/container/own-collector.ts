/** A container with a collector: what `pcp-ts start` runs, and rules about it. */
import { existsSync } from 'node:fs'
import { createDirectories, planDirectories } from '../../../start/directories.ts'
import { start } from '../../../start/run.ts'
import { CONTAINER_COMMAND, type StartOptions } from '../../../start/settings.ts'
import { Supervisor } from '../../../start/supervisor.ts'
import { type CommandLine, openCommand } from './command-process.ts'
import type { ContainerSettings } from './environment.ts'
import { proxyConfPath, rulesPath, writeLabels, writeProxyConf } from './files.ts'
import type { ContainerIo } from './io.ts'

/** Returns the options of `pcp-ts start`. */
export function startOptions(settings: ContainerSettings): StartOptions {
  const { services, agents, dir, listen, keepDays, keepBytes, port, webPort } = settings
  return {
    command: CONTAINER_COMMAND,
    port,
    webPort,
    dir,
    agents,
    threads: [],
    listen,
    charts: services.has('pmproxy'),
    alerts: services.has('pmproxy') && services.has('pmie'),
    webListen: undefined,
    usesSystemDirs: false,
    logsToOutput: true,
    records: services.has('pmlogger'),
    keepDays,
    keepBytes,
  }
}

/** Runs until `io.signal` is aborted. Rejects if the collector cannot be started. */
export async function runOwnCollector(settings: ContainerSettings, io: ContainerIo): Promise<void> {
  const { binDir, partsDir, signal, say, stopped } = io
  const { services, dir, names, labels, variables } = settings
  const place = planDirectories(dir, variables, binDir, {})
  await createDirectories(place, { command: CONTAINER_COMMAND, records: services.has('pmlogger') })
  writeLabels(place, labels)
  if (!writeProxyConf(place, { names }) && names.length > 0)
    say(`PCP_TS_NAMES: not used, because ${proxyConfPath(place)} is your own`)
  const started = await start(startOptions(settings), {
    env: variables,
    binDir,
    partsDir,
    tools: 'pcp-ts ',
    platform: process.platform,
    say,
    isTerminal: false,
    isService: false,
    signal,
  })
  const rules = rulesPath(place)
  const command: CommandLine = {
    name: 'pmie',
    args: ['-b', '-f', '-c', rules],
    env: { ...variables, PCP_CONF: place.confPath },
  }
  const hasRules = services.has('pmie') && existsSync(rules)
  if (services.has('pmie') && !hasRules) say(`pmie: not started, because there are no rules in ${rules}`)
  const pmie = hasRules
    ? new Supervisor({ name: 'pmie', open: () => openCommand(binDir, command), say })
    : undefined
  await pmie?.start()
  await stopped
  await pmie?.stop()
  await started.close()
}

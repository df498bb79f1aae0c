/** Settings of a running instance: its addresses, agents and recording. */

/** Options of `pcp-ts start`. */
export interface StartOptions {
  /** How the user runs this command, up to its options: `pcp-ts start`, or `npm start --` in a checkout. */
  readonly command: string
  /** Port of the collector. */
  readonly port: number
  /** Serve charts and PCP's REST API. */
  readonly charts: boolean
  /** Evaluate the alert rules. */
  readonly alerts: boolean
  /** Port of the web side. */
  readonly webPort: number
  /** Addresses of the web side, as in `listen`; undefined for those of the collector. */
  readonly webListen: readonly string[] | undefined
  /** Directory for state; undefined for the user's own directories. */
  readonly dir: string | undefined
  /** Use the directories of the system's service instead. */
  readonly usesSystemDirs: boolean
  /** Names of agents. */
  readonly agents: readonly string[]
  /** Agents that run in threads. */
  readonly threads: readonly string[]
  /** Addresses to listen on, 'all' for every interface; undefined for loopback only. */
  readonly listen: readonly string[] | undefined
  /** Write the logs of the parts to standard output instead of files. */
  readonly logsToOutput: boolean
  /** Record archives. */
  readonly records: boolean
  /** Days after which an archive is removed. */
  readonly keepDays: number
  /** Total size of archives in bytes. */
  readonly keepBytes: number
}

/**
 * Returns what the user writes to change a setting: `pcp-ts start --port 44421`, or `PCP_TS_PORT=44421` in a container, whose settings are
 * environment variables.
 */
export function settingText(
  command: string,
  option: 'dir' | 'port' | 'web-port',
  value: string | number,
): string {
  if (command === CONTAINER_COMMAND) return `PCP_TS_${option.toUpperCase().replace('-', '_')}=${value}`
  return `${command} --${option} ${value}`
}

/** `command` of a container. */
export const CONTAINER_COMMAND = 'pcp-ts container'

/** Default port of a collector. */
export const DEFAULT_PORT = 44321

/** Text of the service's systemd unit. systemd.service(5), systemd.exec(5) */
import { PcpError } from '../model/errors.ts'

/** Whose service manager runs the service: the machine's, or that of one user. */
export type ServiceScope = 'system' | 'user'

/** Name of the unit, of its account and of its directories. */
export const SERVICE_NAME = 'pcp-ts'
export const UNIT_NAME = 'pcp-ts.service'

/** The command line and environment of a service. */
export interface UnitPlan {
  readonly scope: ServiceScope
  /** The node executable. */
  readonly node: string
  /** Our program, run by node. */
  readonly program: string
  /** Arguments of the program. */
  readonly args: readonly string[]
  /** Environment variables in addition to those of the service manager. */
  readonly environment: Readonly<Record<string, string>>
  /** Version of this package: a new one restarts the service. */
  readonly version: string
  /** Let agents read what only root may read of other accounts' processes. */
  readonly isPrivileged: boolean
}

/** Capabilities to read /proc/PID/io, fd, environ and the like of other accounts. */
const PROCESS_CAPABILITIES = 'CAP_DAC_READ_SEARCH CAP_SYS_PTRACE'

/** Returns the unit's text, without its seal. Throws PM_ERR_ARG for a path that a unit cannot name. */
export function unitText(plan: UnitPlan): string {
  const { scope, node, program, args, environment, version } = plan
  const lines = [
    '[Unit]',
    `Description=Performance metrics of this host (pcp-ts ${version})`,
    'After=network.target',
    '# A taken port may become free: retry without end.',
    'StartLimitIntervalSec=0',
    '',
    '[Service]',
    'Type=notify',
    '# Node sends its notifications through systemd-notify.',
    'NotifyAccess=all',
    `ExecStart=${[node, program].map(programWord).join(' ')} ${args.map(argumentWord).join(' ')}`,
    ...Object.entries(environment).map(([name, value]) => `Environment=${quoted(`${name}=${value}`)}`),
    'Restart=on-failure',
    'RestartSec=5',
    '# The supervisor ends its parts in order; those that hang after 20 seconds are killed.',
    'KillMode=mixed',
    'TimeoutStopSec=60',
    '# Ten thousand clients need one file descriptor each.',
    'LimitNOFILE=65536',
    'UMask=0022',
    'NoNewPrivileges=yes',
    ...(scope === 'system' ? systemLines(plan) : []),
    '',
    '[Install]',
    `WantedBy=${scope === 'system' ? 'multi-user.target' : 'default.target'}`,
  ]
  return `${lines.join('\n')}\n`
}

/** Account, directories and sandbox of the system's service. */
function systemLines({ isPrivileged }: UnitPlan): readonly string[] {
  const capabilities = isPrivileged ? PROCESS_CAPABILITIES : ''
  return [
    `User=${SERVICE_NAME}`,
    `Group=${SERVICE_NAME}`,
    ...['Configuration', 'State', 'Logs', 'Runtime'].map((kind) => `${kind}Directory=${SERVICE_NAME}`),
    `WorkingDirectory=/var/lib/${SERVICE_NAME}`,
    '',
    '# Absent on purpose, because metrics would be wrong or missing: PrivateDevices, PrivateNetwork, PrivateTmp, PrivateUsers,',
    '# ProtectHostname, ProtectProc, ProtectHome=yes (sizes of file systems), MemoryDenyWriteExecute (V8 compiles at run time).',
    `CapabilityBoundingSet=${capabilities}`,
    `AmbientCapabilities=${capabilities}`,
    'ProtectSystem=strict',
    'ProtectHome=read-only',
    'ProtectClock=yes',
    'ProtectControlGroups=yes',
    'ProtectKernelLogs=yes',
    'ProtectKernelModules=yes',
    'ProtectKernelTunables=yes',
    'DevicePolicy=closed',
    'LockPersonality=yes',
    'RemoveIPC=yes',
    'RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK',
    'RestrictNamespaces=yes',
    'RestrictRealtime=yes',
    'RestrictSUIDSGID=yes',
    'SystemCallArchitectures=native',
    'SystemCallFilter=@system-service',
    'SystemCallFilter=~@resources @privileged',
    'SystemCallErrorNumber=EPERM',
  ]
}

/** Quotes a path in front of the arguments, where systemd expands no variables. */
function programWord(path: string): string {
  if (/[$"'\\]/.test(path))
    throw new PcpError(
      'PM_ERR_ARG',
      `A unit of systemd cannot name ${path}: install Node and pcp-ts in a folder without quotes, $ and \\`,
    )
  return quoted(path)
}

const argumentWord = (word: string): string => quoted(word).replaceAll('$', '$$$$')

/** Quotes a word where necessary, and protects % from expansion. */
function quoted(word: string): string {
  if (/[\p{Cc}]/u.test(word))
    throw new PcpError(
      'PM_ERR_ARG',
      `${JSON.stringify(word)} has control characters, which a unit cannot have`,
    )
  const safe = word.replaceAll('%', '%%')
  if (/^[\w@%+=:,./-]+$/.test(safe)) return safe
  return `"${safe.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
}

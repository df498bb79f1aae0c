/** `pcp-ts service install`. */
import { realpathSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { VERSION } from '../../../base/version.ts'
import { PcpError } from '../../../model/errors.ts'
import { installService } from '../../../service/install.ts'
import { changeablePath, checkAccess, checkPlaces, type Installation } from '../../../service/installation.ts'
import { readPasswd } from '../../../service/passwd.ts'
import type { Systemd } from '../../../service/systemd.ts'
import { SERVICE_NAME, type ServiceScope, unitText } from '../../../service/unit.ts'
import { unitDirectory, unitFileText, unitPath, writeUnit } from '../../../service/unit-file.ts'
import { checkPort } from '../../../start/ports.ts'
import { DEFAULT_PORT } from '../../../start/settings.ts'
import type { Variables } from '../../../sys/config.ts'
import { isSingleExecutable } from '../../lib/own-program.ts'
import type { ServiceCall } from './call.ts'
import { startCommand } from './start-arguments.ts'

/** Where a user's directories differ from the defaults, which the service manager may not know. */
const USER_VARIABLES = ['XDG_CONFIG_HOME', 'XDG_DATA_HOME', 'XDG_STATE_HOME']

/** Writes the unit, enables and starts it. */
export async function install(call: ServiceCall): Promise<number> {
  const { given, systemd, io, say } = call
  const { scope } = given
  const installation = installationOf(call.binDir)
  const command = startCommand(given, 'pcp-ts service install')
  const text = unitText({
    scope,
    ...installation,
    args: command.args,
    environment: scope === 'user' ? userEnvironment(io.env) : {},
    version: VERSION,
    isPrivileged: given.has('privileged-agents'),
  })
  if (given.has('dry-run')) {
    io.stdout.write(unitFileText(text))
    return 0
  }
  for (const warning of checkPlaces(installation)) say(`warning: ${warning}`)
  const dir = given.value('dir')
  if (dir !== undefined) {
    const path = unitPath(resolve(io.cwd, dir))
    say(`${path}: ${writeUnit(path, text, given.has('force'))}`)
    return 0
  }
  insistOnRights(scope, installation, io.args)
  if (scope === 'system') insistOnSafety(installation, given.has('privileged-agents'), say)
  const starts = !given.has('no-start')
  if (starts) {
    insistOnManager(systemd, io.env)
    if ((await systemd.state()).active !== 'active') {
      await checkPort(command.options)
      await checkOtherPcp(systemd, command.options.port)
    }
  }
  await installService({
    systemd,
    installation,
    path: unitPath(unitDirectory(scope, io.env)),
    text,
    force: given.has('force'),
    starts,
    lingers: given.has('linger'),
    say,
  })
  return 0
}

function installationOf(binDir: string): Installation {
  if (isSingleExecutable())
    throw new PcpError(
      'ENOTSUP',
      'The single executable keeps its programs in a cache, which a service cannot rely on: install the npm or the Debian package',
    )
  return { node: process.execPath, program: realpathSync(join(binDir, SERVICE_NAME)) }
}

function userEnvironment(env: Variables): Readonly<Record<string, string>> {
  const set = USER_VARIABLES.filter((name) => env[name]?.startsWith('/'))
  return Object.fromEntries(set.map((name) => [name, env[name]!]))
}

function insistOnRights(scope: ServiceScope, { node, program }: Installation, args: readonly string[]): void {
  if (scope === 'user' || process.geteuid?.() === 0) return
  throw new PcpError(
    'EPERM',
    `The machine's service needs root: sudo ${node} ${program} service ${args.join(' ')}`,
  )
}

/** The system's service must not run what others can change, nor what its account cannot read. */
function insistOnSafety(
  installation: Installation,
  isPrivileged: boolean,
  say: (line: string) => void,
): void {
  const account = readPasswd(SERVICE_NAME)
  checkAccess(installation, { uid: account?.uid, gid: account?.gid })
  const changeable = changeablePath(installation)
  if (changeable === undefined) return
  if (isPrivileged)
    throw new PcpError(
      'EACCES',
      `${changeable} can be changed by an account other than root, so --privileged-agents would give that account all rights: install Node and pcp-ts as root`,
    )
  say(
    `warning: ${changeable} can be changed by an account other than root, which so controls what the service runs`,
  )
}

function insistOnManager({ isRunning, scope }: Systemd, env: Variables): void {
  if (isRunning) return
  const others = '--no-start writes the unit anyway, --dir DIR writes it elsewhere'
  if (scope === 'system')
    throw new PcpError(
      'ENOENT',
      `systemd does not run on this machine; nothing was written. Run pcp-ts start --system-dirs under the supervisor that you have; ${others}`,
    )
  const user = env['USER'] ?? String(process.geteuid?.() ?? '')
  throw new PcpError(
    'ENOENT',
    `No service manager runs for you; nothing was written. Log in by ssh or at a console instead of su or sudo, or as root: loginctl enable-linger ${user}; ${others}`,
  )
}

/** An installed PCP that is enabled takes its port at the next boot, even if it does not run now. */
async function checkOtherPcp(systemd: Systemd, port: number): Promise<void> {
  if (port !== DEFAULT_PORT) return
  const { text } = await systemd.run('systemctl', ['is-enabled', 'pmcd.service'])
  if (text.trim() !== 'enabled') return
  throw new PcpError(
    'EADDRINUSE',
    `The service pmcd is enabled and takes port ${port} at boot; use another: pcp-ts service install --port 44421, or "systemctl disable --now pmcd"`,
  )
}

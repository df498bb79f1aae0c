/** pcp-ts service: installs, shows and uninstalls collector, recorder and charts as a service of systemd. docs/how-to/run-as-a-service.md */
import { dirname } from 'node:path'
import { PcpError } from '../../../model/errors.ts'
import { findSystemd } from '../../../service/systemd.ts'
import { uninstallService } from '../../../service/uninstall.ts'
import { unitDirectory, unitPath } from '../../../service/unit-file.ts'
import { parseOptions } from '../../lib/options.ts'
import { handleSubcommandExit } from '../../lib/subcommand.ts'
import type { Tool } from '../../lib/tool.ts'
import type { ServiceCall } from './call.ts'
import { install } from './install.ts'
import { logs } from './logs.ts'
import { OPTIONS, readArguments, type Verb } from './options.ts'
import { status } from './status.ts'

const VERBS: Readonly<Record<Verb, (call: ServiceCall) => Promise<number>>> = {
  install,
  status,
  logs,
  uninstall,
}

/** Runs a verb. */
export const tool: Tool = {
  name: 'pcp-ts-service',
  summary: 'Run as a service that starts at boot',
  description: `
install writes a systemd unit that runs pcp-ts start with the node executable and the package that run this command, enables and starts
it. Repeated, it applies changed options and a new version of the package; a unit that was edited by hand is left alone. Without --record
and --web it only collects. It listens on loopback.

The machine's service (--system) runs as the account pcp-ts, which is made if it does not exist, without any rights of root. Settings
are in /etc/pcp-ts, state in /var/lib/pcp-ts, logs and archives in /var/log/pcp-ts, the socket in /run/pcp-ts. Yours (--user) uses the
directories of pcp-ts start. An installed PCP is not touched.

status prints the state of the unit, logs its messages. uninstall stops the service and removes the unit; settings, state and archives
stay without --purge.`,
  examples: [
    ['sudo pcp-ts service install --record --web localhost', 'Collect, record and chart, from boot on:'],
    ['pcp-ts service install --user --linger --record', 'The same without root and charts:'],
    ['pcp-ts service logs --user -f', 'Follow the messages of your service:'],
  ],
  exitStatus: [
    [3, 'status: the service does not run'],
    [4, 'status: the service is not installed'],
  ],
  seeAlso: ['pcp-ts', 'pcp-ts-start', 'systemctl', 'journalctl'],
  options: OPTIONS,
  shutsDownOnSignal: true,
  async run(io) {
    const parsed = parseOptions(OPTIONS, io)
    const early = handleSubcommandExit(OPTIONS, parsed, io)
    if (early !== undefined) return early
    const given = readArguments(parsed, process.geteuid?.() === 0)
    if (process.platform !== 'linux')
      throw new PcpError(
        'ENOTSUP',
        'Services need systemd, which only Linux has: run pcp-ts start under the supervisor of this system',
      )
    const call: ServiceCall = {
      given,
      io,
      systemd: findSystemd(given.scope, io.env),
      // A pack of the build is in bin/parts.
      binDir: dirname(__dirname),
      say: (line) => io.stdout.write(`${line}\n`),
    }
    return VERBS[given.verb](call)
  },
}

async function uninstall({ given, systemd, io, say }: ServiceCall): Promise<number> {
  if (given.scope === 'system' && process.geteuid?.() !== 0)
    throw new PcpError(
      'EPERM',
      `To uninstall the machine's service, run this command as root, with sudo ${process.execPath} ${process.argv[1] ?? 'pcp-ts'}`,
    )
  const wasInstalled = await uninstallService({
    systemd,
    env: io.env,
    path: unitPath(unitDirectory(given.scope, io.env)),
    force: given.has('force'),
    purges: given.has('purge'),
    say,
  })
  if (!wasInstalled) say('not installed: nothing to stop')
  return 0
}

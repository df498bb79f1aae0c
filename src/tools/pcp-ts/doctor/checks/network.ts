/** Checks of ports, addresses and the web page. */
import { DEFAULT_PORT } from '../../../../start/settings.ts'
import { type Check, type Finding, fail, type Machine, ok, warn } from '../check.ts'
import { portOwner } from '../port-owner.ts'

const WEB_PORT = 44323

function portCheck(id: string, title: string, port: number, option: string): Check {
  return {
    id,
    title,
    run: async (machine) => {
      const codes = await Promise.all(['127.0.0.1', '::1'].map((host) => machine.listen(port, host)))
      if (codes.includes('EADDRINUSE')) return takenBy(machine, port, option)
      if (codes.includes('EACCES'))
        return fail(`port ${port} needs privileges`, `use another: pcp-ts start ${option} ${port + 100}`)
      return ok(`port ${port} is free`)
    },
  }
}

function takenBy(machine: Machine, port: number, option: string): Finding {
  const ours = machine.instances.find(
    ({ addresses, web }) =>
      addresses.some((each) => each.endsWith(`:${port}`)) || web?.endsWith(`:${port}`) === true,
  )
  if (ours !== undefined) return ok(`port ${port} is used by the instance in ${ours.runDir}`)
  const owner = portOwner(machine, port)
  const who = owner === undefined ? 'a process of another user' : `process ${owner.pid} (${owner.command})`
  return warn(
    `port ${port} is taken by ${who}`,
    `pcp-ts start needs another: pcp-ts start ${option} ${port + 100}`,
  )
}

export const NETWORK_CHECKS: readonly Check[] = [
  portCheck('port', 'Port of the collector', DEFAULT_PORT, '--port'),
  portCheck('web-port', 'Port of the charts', WEB_PORT, '--web-port'),
  {
    id: 'loopback',
    title: 'Addresses of this machine',
    run: async ({ listen }) => {
      const [v4, v6] = await Promise.all([listen(0, '127.0.0.1'), listen(0, '::1')])
      if (v4 !== undefined && v6 !== undefined)
        return fail(
          `neither 127.0.0.1 (${v4}) nor ::1 (${v6}) works`,
          'bring the loopback interface up: ip link set lo up',
        )
      if (v4 !== undefined)
        return warn(`only IPv6 works (127.0.0.1: ${v4})`, 'programs that use IPv4 cannot connect')
      return ok(v6 === undefined ? '127.0.0.1 and ::1' : `127.0.0.1; without IPv6 (${v6})`)
    },
  },
  {
    id: 'localhost',
    title: 'The name localhost',
    run: async ({ lookup }) => {
      const line = 'add to /etc/hosts: 127.0.0.1 localhost'
      let addresses: readonly string[]
      try {
        addresses = await lookup('localhost')
      } catch (error) {
        return fail(`does not resolve: ${error instanceof Error ? error.message : String(error)}`, line)
      }
      const isLocal =
        addresses.length > 0 && addresses.every((each) => each === '::1' || each.startsWith('127.'))
      return isLocal
        ? ok(addresses.join(', '))
        : fail(`resolves to ${addresses.join(', ') || 'nothing'}`, line)
    },
  },
  {
    id: 'web',
    title: 'The page in the browser',
    run: async ({ instances, get }) => {
      const urls = instances.flatMap(({ web }) => (web === undefined ? [] : [web]))
      if (urls.length === 0) return ok('no instance has one')
      const answers = await Promise.all(urls.map((url) => get(`${url}/ui/`)))
      const bad = answers.findIndex((answer) => answer !== 200)
      if (bad < 0) return ok(urls.join(', '))
      return fail(
        `${urls[bad]} answers: ${answers[bad]}`,
        'look into pmproxy.log beside the log that pcp-ts status shows; in a checkout, npm run build makes the page',
      )
    },
  },
]

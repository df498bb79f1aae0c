/** Ports that cannot be had: found before anything starts, and explained with the command that uses another. */
import { createServer } from 'node:net'
import { PcpError } from '../model/errors.ts'
import type { Endpoint } from '../net/listen.ts'
import { DEFAULT_PORT, type StartOptions } from './options.ts'

/** Addresses of a kind that this machine, or the name given for one, does not have. */
const ABSENT: ReadonlySet<string> = new Set(['EADDRNOTAVAIL', 'EAFNOSUPPORT'])

/** A taken port is the likeliest failure, so it gets its answer first and at once. */
export async function checkPort({ port, listen }: StartOptions): Promise<void> {
  const isLoopback = listen === undefined || listen.includes('all')
  const failures = []
  const hosts = isLoopback ? ['127.0.0.1', '::1'] : listen
  for (const host of hosts) {
    const failure = await bindingFailure(port, host)
    if (failure === undefined) continue
    if (!isLoopback || !ABSENT.has(failure.code)) throw explainPort(failure, port, host)
    failures.push(failure)
  }
  if (failures.length === hosts.length) throw explainPort(failures[0]!, port, hosts[0])
}

function bindingFailure(port: number, host: string): Promise<PcpError | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error) => resolve(PcpError.from(error)))
    server.listen(port, host, () => server.close(() => resolve(undefined)))
  })
}

/** Why it cannot be reached as it should; a machine may have but one of IPv4 and IPv6. */
export function failureOf(endpoints: readonly Endpoint[]): PcpError | undefined {
  const overIp = endpoints.filter(({ family }) => family !== 'unix')
  const lasting = overIp.find(({ error }) => error !== undefined && !ABSENT.has(error.code))
  if (lasting !== undefined) return lasting.error
  return overIp.some(({ error }) => error === undefined) ? undefined : overIp[0]?.error
}

function explainPort(error: PcpError, port: number, host: string | undefined): PcpError {
  const { code, text } = error
  const other = port === DEFAULT_PORT ? 44421 : port + 100
  if (code === 'EADDRINUSE') {
    const who = port === DEFAULT_PORT ? ' (by an installed PCP or another npm start)' : ''
    return new PcpError(code, `Port ${port} is taken${who}; use another: npm start -- --port ${other}`, {
      cause: error,
    })
  }
  if (code === 'EACCES')
    return new PcpError(
      code,
      `Port ${port} needs privileges; use another: npm start -- --port ${DEFAULT_PORT}`,
      { cause: error },
    )
  return new PcpError(code, `Cannot listen on ${host} port ${port}: ${text}`, { cause: error })
}

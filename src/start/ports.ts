/** Detects unavailable ports before anything starts, and suggests a command with another port. */
import { createServer } from 'node:net'
import { PcpError } from '../model/errors.ts'
import type { Endpoint } from '../net/listen.ts'
import { DEFAULT_PORT, type StartOptions, settingText } from './settings.ts'

/** Errors for addresses that this machine does not have. */
const ABSENT: ReadonlySet<string> = new Set(['EADDRNOTAVAIL', 'EAFNOSUPPORT'])

/** A port in use is the most likely failure, so it is checked first. */
export async function checkPort({ command, port, listen }: StartOptions): Promise<void> {
  const isLoopback = listen === undefined || listen.includes('all')
  const failures = []
  const hosts = isLoopback ? ['127.0.0.1', '::1'] : listen
  for (const host of hosts) {
    const failure = await bindingFailure(port, host)
    if (failure === undefined) continue
    if (!isLoopback || !ABSENT.has(failure.code)) throw explainPort(failure, { command, port, host })
    failures.push(failure)
  }
  if (failures.length === hosts.length) throw explainPort(failures[0]!, { command, port, host: hosts[0] })
}

function bindingFailure(port: number, host: string): Promise<PcpError | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error) => resolve(PcpError.from(error)))
    server.listen(port, host, () => server.close(() => resolve(undefined)))
  })
}

/** Returns why a port cannot be used; a machine may have only one of IPv4 and IPv6. */
export function portError(endpoints: readonly Endpoint[]): PcpError | undefined {
  const overIp = endpoints.filter(({ family }) => family !== 'unix')
  const lasting = overIp.find(({ error }) => error !== undefined && !ABSENT.has(error.code))
  if (lasting !== undefined) return lasting.error
  return overIp.some(({ error }) => error === undefined) ? undefined : overIp[0]?.error
}

interface WantedPort {
  readonly command: string
  readonly port: number
  readonly host: string | undefined
}

function explainPort(error: PcpError, { command, port, host }: WantedPort): PcpError {
  const { code, text } = error
  const other = port === DEFAULT_PORT ? 44421 : port + 100
  if (code === 'EADDRINUSE') {
    const who = port === DEFAULT_PORT ? ' (by an installed PCP or another instance)' : ''
    return new PcpError(
      code,
      `Port ${port} is taken${who}; use another: ${settingText(command, 'port', other)}`,
      {
        cause: error,
      },
    )
  }
  if (code === 'EACCES')
    return new PcpError(
      code,
      `Port ${port} needs privileges; use another: ${settingText(command, 'port', DEFAULT_PORT)}`,
      { cause: error },
    )
  return new PcpError(code, `Cannot listen on ${host} port ${port}: ${text}`, { cause: error })
}

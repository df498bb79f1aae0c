/** The health check of a container: asks each of its servers. */

import { get } from 'node:http'
import { withSignal } from '../../../base/with-signal.ts'
import { PcpError } from '../../../model/errors.ts'
import { connect } from '../../../pmapi/connect.ts'
import type { ContainerSettings } from './environment.ts'

/** Longest time for an answer. */
const ANSWER_MS = 5_000

/** Resolves to the problems of the servers; none if all answer. */
export async function healthProblems(
  { services, listen, port, webPort, variables }: ContainerSettings,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const host = listen.includes('all') ? 'localhost' : listen[0]!
  const address = host.includes(':') ? `[${host}]` : host
  const checks: Promise<string | undefined>[] = []
  if (services.has('pmcd')) checks.push(problemOf('pmcd', () => askCollector(`${address}:${port}`)))
  if (services.has('pmproxy'))
    checks.push(problemOf('pmproxy', () => askWeb(`http://${address}:${webPort}/series/ping`)))
  return (await Promise.all(checks)).filter((problem) => problem !== undefined)

  async function askCollector(spec: string): Promise<void> {
    await withSignal({ signals: [signal], timeoutMs: ANSWER_MS }, async (limit) => {
      const context = await connect(spec, { env: variables, signal: limit })
      try {
        await context.hostname({ signal: limit })
      } finally {
        await context.close()
      }
    })
  }
}

async function problemOf(service: string, ask: () => Promise<void>): Promise<string | undefined> {
  try {
    await ask()
    return undefined
  } catch (error) {
    return `${service}: ${PcpError.from(error).message}`
  }
}

function askWeb(url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = get(url, { timeout: ANSWER_MS, agent: false }, (response) => {
      response.resume()
      if (response.statusCode === 200) resolve()
      else reject(new PcpError('EPROTO', `answered with status ${response.statusCode}`))
    })
    request.on('timeout', () => request.destroy(new PcpError('ETIMEDOUT', 'no answer in time')))
    request.on('error', reject)
  })
}

/** Values of pmcd.agent.status, the state of an agent of a collector. pmcd(1) */

const NOT_READY = 1
const ENDED = 2
const NOT_STARTED = 4
const BROKE_PROTOCOL = 8

/** Explains a value of pmcd.agent.status; undefined for a connected agent. */
export function agentProblem(status: number): string | undefined {
  if (status === 0 || status === NOT_READY) return undefined
  const how = status & 0xff
  const exit = (status >> 8) & 0xff
  const signal = (status >> 16) & 0xff
  const ending = signal !== 0 ? `killed by signal ${signal}` : `exit status ${exit}`
  if (how === NOT_STARTED) return 'could not be started'
  if (how === BROKE_PROTOCOL) return `broke the protocol${status >> 8 === 0 ? '' : ` (${ending})`}`
  if (how === ENDED) return `has ended (${ending})`
  return `is gone (pmcd.agent.status ${status})`
}

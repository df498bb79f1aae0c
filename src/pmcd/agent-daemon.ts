/** Program of an agent's own process, for lines of pmcd.conf whose entry begins with daemon:. docs/decisions/worker-agents.md */
import { loggable } from '../base/printable.ts'
import { PcpError } from '../model/errors.ts'
import { runDaemon } from '../pmda/run-daemon.ts'
import { type AgentLocation, loadAgent } from './agent-module.ts'

const [place] = process.argv.splice(2, 1)

// The collector takes the last line as the reason of the failure.
void runDaemon(() => loadAgent(JSON.parse(place!) as AgentLocation)).catch((error: unknown) => {
  const { stack } = error as Error
  if (!(error instanceof PcpError) && stack !== undefined) process.stderr.write(`${loggable(stack)}\n`)
  process.stderr.write(`${loggable(PcpError.from(error).message)}\n`, () => process.exit(1))
})

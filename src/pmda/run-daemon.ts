/** Runs an agent daemon in this process; called by bin/pmdaNAME. docs/reference/agent-toolkit.md */
import { Writable } from 'node:stream'
import { loggable } from '../base/printable.ts'
import type { PduStream } from '../net/connection.ts'
import type { Log } from '../sys/log.ts'
import { setProcessName } from '../sys/native/process-name.ts'
import { becomeUser } from './become-user.ts'
import { runAgentDaemon } from './daemon.ts'
import type { AgentDefinition } from './define-agent.ts'

/**
 * Runs an agent with this process's arguments, standard input and output, and exits with its status. From then on only
 * PDUs are written to standard output: anything the agent prints goes to its log. With a function as argument this
 * includes the loading of the agent's module.
 */
export async function runDaemon(agent: AgentDefinition | (() => Promise<AgentDefinition>)): Promise<void> {
  const pipe = takeOverPipe()
  const definition = typeof agent === 'function' ? await agent() : agent
  setProcessName(`pmda${definition.name}`, process.argv.slice(2))
  const abort = new AbortController()
  let signalled: NodeJS.Signals | undefined
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.once(name, () => {
      signalled = name
      abort.abort()
    })
  }
  const status = await runAgentDaemon(definition, {
    args: process.argv.slice(2),
    env: process.env,
    cwd: process.cwd(),
    pipe,
    stderr: (text) => process.stderr.write(loggable(text)),
    onLog: printTo,
    isRoot: process.geteuid?.() === 0,
    becomeUser,
    signal: abort.signal,
  })
  if (signalled !== undefined)
    process.kill(process.pid, signalled) // our handler was removed after the first signal
  else process.exit(status)
}

/**
 * Reserves file descriptor 1 for PDUs. console.log and process.stdout go to standard error until the log is open, because
 * one stray line would make pmcd drop the agent.
 */
function takeOverPipe(): () => PduStream {
  const { stdout } = process
  printTo({ line: (text) => process.stderr.write(`${loggable(text)}\n`) })
  return () => ({ readable: process.stdin, writable: stdout })
}

/** Redirects standard output to the lines of the log. */
function printTo(log: Pick<Log, 'line'>): void {
  const stdout = new Writable({
    decodeStrings: false,
    write(chunk: string | Uint8Array, _encoding, done) {
      const text = typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString()
      log.line(text.replace(/\n$/, ''))
      done()
    },
  })
  Object.defineProperty(process, 'stdout', { configurable: true, enumerable: true, value: stdout })
  // The console may already hold the original stream.
  Object.assign(console, { _stdout: stdout })
}

/** From a process to an agent daemon: what bin/pmdaNAME calls. docs/agents.md */
import { Writable } from 'node:stream'
import { loggable } from '../base/printable.ts'
import type { PduStream } from '../net/connection.ts'
import type { Log } from '../sys/log.ts'
import { setProcessName } from '../sys/native/process-name.ts'
import { becomeUser } from './become-user.ts'
import { runAgentDaemon } from './daemon.ts'
import type { AgentDefinition } from './define-agent.ts'

/**
 * Runs an agent with this process's arguments, standard input and output, and ends the process with its status. From
 * here on nothing but PDUs reaches standard output: what the agent prints there by mistake goes to its log. Given a
 * function, that holds for what the agent's module prints while it is loaded, too.
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
    process.kill(process.pid, signalled) // our handler is gone: it was for once
  else process.exit(status)
}

/**
 * Descriptor 1 for PDUs alone. console.log and process.stdout go to standard error until there is a log, because one
 * stray line would make pmcd drop the agent.
 */
function takeOverPipe(): () => PduStream {
  const { stdout } = process
  printTo({ line: (text) => process.stderr.write(`${loggable(text)}\n`) })
  return () => ({ readable: process.stdin, writable: stdout })
}

/** Sends what is printed to standard output to the log's lines. */
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
  // The console may have looked up standard output before.
  Object.assign(console, { _stdout: stdout })
}

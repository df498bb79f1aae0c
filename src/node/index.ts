/** Public entry point 'pcp-ts/node': this process measures itself. docs/guide/node.md */
import { optionsFrom, type RegisterOptions } from './options.ts'
import { Registration } from './registration.ts'

export { type ErrorCode, PcpError } from '../model/errors.ts'
export type { AnsweredRequest, AnswerGiven, PartName, RegisterOptions } from './options.ts'
export type { Registration } from './registration.ts'

/** Where the one registration of a thread is, whichever copy of this module made it. */
const KEY = Symbol.for('pcp-ts.node')

/**
 * Measures this process, or this worker thread: its metrics appear in every collector on this host that has the agent
 * `node` or `mmv`, and go when it ends. Once only: a second call gives what the first one
 * made, unless that was closed. What `options` leave out
 * the environment may say; PCP_NODE=off keeps all of it off, and gives undefined. EINVAL for an environment that cannot be
 * understood; that no file can be written is a warning, and tried again.
 */
export function register(options: RegisterOptions = {}): Registration | undefined {
  if (process.env['PCP_NODE'] === 'off') return undefined
  const shared = globalThis as { [KEY]?: Registration }
  if (shared[KEY] === undefined || shared[KEY].isClosed)
    shared[KEY] = new Registration({ ...optionsFrom(process.env), ...options })
  return shared[KEY]
}

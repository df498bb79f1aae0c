/** Public entry point 'pcp-ts/node': measures this process. docs/how-to/instrument-node.md */
import { optionsFrom, type RegisterOptions } from './options.ts'
import { Registration } from './registration.ts'

export { type ErrorCode, PcpError } from '../model/errors.ts'
export type {
  PartName,
  RegisterOptions,
  RoutedRequest,
  RoutedResponse,
} from './options.ts'
export type { Registration } from './registration.ts'

/** Key of a thread's only registration, shared by all copies of this module. */
const KEY = Symbol.for('pcp-ts.node')

/**
 * Measures this process, or this worker thread: its metrics appear in every collector on this host with the agent `node`
 * or `mmv`, until it ends. A second call returns the existing registration unless that was closed. Missing options are
 * taken from the environment; PCP_NODE=off disables measuring and returns undefined. EINVAL for an invalid environment
 * variable. If the file cannot be written, a warning is emitted and writing is retried.
 */
export function register(options: RegisterOptions = {}): Registration | undefined {
  if (process.env['PCP_NODE'] === 'off') return undefined
  const shared = globalThis as { [KEY]?: Registration }
  if (shared[KEY] === undefined || shared[KEY].isClosed)
    shared[KEY] = new Registration({ ...optionsFrom(process.env), ...options })
  return shared[KEY]
}

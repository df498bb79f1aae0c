/** Public entry point 'pcp-ts/node/register': importing it measures the process. docs/how-to/instrument-node.md */
import { register } from './index.ts'

try {
  register()
} catch (error) {
  // A mistake in the environment must not keep the application from starting.
  process.emitWarning(`Metrics of this process: ${(error as Error).message}`, 'PcpWarning')
}

/** Metrics that somebody may have meant who named one that is not there. */
import { PcpError } from '../../model/errors.ts'
import type { Context } from '../../pmapi/context.ts'
import { didYouMean, nearNames } from './near-names.ts'
import type { ToolIo } from './tool.ts'

/** Names like one that is not there, of metrics and of what stands above them; none where nobody can be asked. */
export async function nearMetrics(context: Context, wanted: string, io: ToolIo): Promise<readonly string[]> {
  try {
    return nearLeaves(wanted, await context.traverse('', io))
  } catch (error) {
    if (error instanceof PcpError && error.code !== 'ECANCELED') return []
    throw error
  }
}

function nearLeaves(wanted: string, leaves: readonly string[]): readonly string[] {
  const names = new Set<string>()
  for (const leaf of leaves)
    for (let end = leaf.length; end > 0; end = leaf.lastIndexOf('.', end - 1)) names.add(leaf.slice(0, end))
  return nearNames(wanted, names)
}

/**
 * For whoever sits at a terminal, behind a message that a metric is unknown: `. Did you mean kernel.all.load?`. '' where nothing is near, where
 * the problem is another one, and for scripts: what they read is what PCP's commands print.
 */
export async function nearHint(
  wanted: string,
  problem: unknown,
  from: Context | readonly string[],
  io: ToolIo,
): Promise<string> {
  if (!io.stderr.isTerminal || !(problem instanceof PcpError) || problem.code !== 'PM_ERR_NAME') return ''
  const near = 'traverse' in from ? await nearMetrics(from, wanted, io) : nearLeaves(wanted, from)
  return near.length === 0 ? '' : `.${didYouMean(near)}`
}

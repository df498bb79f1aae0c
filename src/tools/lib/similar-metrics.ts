/** Suggests names similar to an unknown metric. */
import { PcpError } from '../../model/errors.ts'
import type { Context } from '../../pmapi/context.ts'
import { didYouMean, similarNames } from './similar-names.ts'
import type { ToolIo } from './tool.ts'

/** Returns names of metrics and inner nodes similar to an unknown one; empty if the source does not answer. */
export async function similarMetrics(
  context: Pick<Context, 'traverse'>,
  wanted: string,
  io: ToolIo,
): Promise<readonly string[]> {
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
  return similarNames(wanted, names)
}

/**
 * Returns a hint such as `. Did you mean kernel.all.load?` for a message about an unknown metric. Returns '' without similar names,
 * for other errors, and if standard error is not a terminal, as scripts expect PCP's exact text.
 */
export async function didYouMeanMetric(
  wanted: string,
  problem: unknown,
  from: Pick<Context, 'traverse'> | readonly string[],
  io: ToolIo,
): Promise<string> {
  if (!io.stderr.isTerminal || !(problem instanceof PcpError) || problem.code !== 'PM_ERR_NAME') return ''
  const near = 'traverse' in from ? await similarMetrics(from, wanted, io) : nearLeaves(wanted, from)
  return near.length === 0 ? '' : `.${didYouMean(near)}`
}

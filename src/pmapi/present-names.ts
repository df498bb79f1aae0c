/** Metrics that only some versions of a collector have. */
import { isError } from '../model/errors.ts'
import type { CallOptions, Context } from './context.ts'

/** Returns those of the names that the source knows, in their order. @see pmLookupName(3) */
export async function presentNames<N extends string>(
  context: Pick<Context, 'lookupNames'>,
  names: readonly N[],
  options?: CallOptions,
): Promise<readonly N[]> {
  const ids = await context.lookupNames(names, options)
  return names.filter((_, i) => {
    const id = ids[i]
    return id !== undefined && !isError(id)
  })
}

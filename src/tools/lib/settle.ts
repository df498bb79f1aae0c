/** Questions about one item whose failure is part of the answer. */
import { type Outcome, PcpError } from '../../model/errors.ts'

/** The answer, or the PcpError it failed with. Anything else, an interrupt among it, is thrown. */
export async function settle<T>(answer: Promise<T>): Promise<Outcome<T>> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof PcpError) return error
    throw error
  }
}

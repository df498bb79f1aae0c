/** Requests whose PcpError is a result. */
import { type Outcome, PcpError } from '../../model/errors.ts'

/** Resolves to the result or its PcpError. Rejects with any other error, including an interrupt. */
export async function toOutcome<T>(answer: Promise<T>): Promise<Outcome<T>> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof PcpError) return error
    throw error
  }
}

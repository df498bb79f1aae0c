/** Expressions of pages in a context. */
import { PcpError } from '../../model/errors.ts'
import type { CallOptions, Context } from '../../pmapi/context.ts'

/** Defines an expression and returns its name, or the error; never rejects. */
export async function addDerived(
  context: Context,
  name: string,
  expression: string,
  options: CallOptions,
): Promise<string | PcpError> {
  try {
    await context.addDerived(name, expression, options)
    return name
  } catch (error) {
    try {
      context.removeDerived(name)
    } catch {} // an invalid expression was not defined
    return PcpError.from(error)
  }
}

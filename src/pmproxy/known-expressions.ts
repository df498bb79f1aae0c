/** Calculations that /series/query has named, for requests by their identifier. docs/reference/rest.md */
import { PcpError } from '../model/errors.ts'
import { expressionId } from '../series/ids.ts'
import { parseQuery } from '../series/query/parse.ts'
import { canonicalText } from '../series/query/syntax.ts'

/** Calculations that are kept; the oldest are forgotten. */
const MOST_EXPRESSIONS = 1000

/** Calculations by the identifier that a query without window returned. */
export class KnownExpressions {
  readonly #texts = new Map<string, string>()

  /** Keeps the calculation of a query; any other text is ignored. */
  add(text: string): void {
    let canonical: string
    try {
      const { body, hasWindow } = parseQuery(text)
      if (hasWindow || body.kind === 'selector') return
      canonical = canonicalText(body)
    } catch (error) {
      if (error instanceof PcpError) return
      throw error
    }
    const id = expressionId(canonical)
    this.#texts.delete(id)
    this.#texts.set(id, text)
    if (this.#texts.size > MOST_EXPRESSIONS) this.#texts.delete(this.#texts.keys().next().value!)
  }

  /** Returns the calculation of an identifier; undefined for other identifiers, and for forgotten ones. */
  of(id: string): string | undefined {
    return this.#texts.get(id)
  }
}

/** Sizes on the command line: `500M`, `10 GiB`, a number of bytes. */

const FACTORS: Readonly<Record<string, number>> = { '': 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, t: 2 ** 40 }

/** Parses a size to bytes; undefined if invalid. */
export function parseSize(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b|bytes?)?$/i.exec(text.trim())
  if (match === null) return undefined
  return Number(match[1]) * FACTORS[match[2]!.toLowerCase()]!
}

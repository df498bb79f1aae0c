/** Names of instances. */

/** Returns a name up to its first blank, by which PCP looks up instances too (pmLookupInDom). */
export function firstWord(name: string): string {
  const end = name.indexOf(' ')
  return end < 0 ? name : name.slice(0, end)
}

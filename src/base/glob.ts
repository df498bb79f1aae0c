/** Shell patterns for one name: `*`, `?`, `[a-z]`, `[!a-z]` and escaped characters. */
import { ANY, type CharacterSet, compileNode, type PatternNode } from './pattern-machine.ts'

/** Returns whether a whole name matches a pattern. An unclosed bracket is literal. Throws PatternTooBig. */
export function matchesGlob(pattern: string, name: string): boolean {
  return compileNode(globNode(pattern)).test(name)
}

/** Parses a pattern for `compileNode`. */
export function globNode(pattern: string): PatternNode {
  const of: PatternNode[] = [{ kind: 'place', place: 'start' }]
  const characters = Array.from(pattern)
  for (let i = 0; i < characters.length; i++) {
    let c = characters[i]!
    const close = c === '[' ? characters.indexOf(']', i + 2) : -1
    if (c === '*') of.push({ kind: 'repeat', of: ANY, least: 0, most: Number.POSITIVE_INFINITY })
    else if (c === '?') of.push(ANY)
    else if (close > 0) {
      of.push(bracket(characters.slice(i + 1, close)))
      i = close
    } else {
      if (c === '\\' && i + 1 < characters.length) c = characters[++i]!
      of.push(set([[c.codePointAt(0)!, c.codePointAt(0)!]]))
    }
  }
  of.push({ kind: 'place', place: 'end' })
  return { kind: 'sequence', of }
}

/** Returns the members of `[a-z]` and `[!a-z]`; a reversed range has none. */
function bracket(members: readonly string[]): CharacterSet {
  const isNegated = members[0] === '!' || members[0] === '^'
  const codes = members.slice(isNegated ? 1 : 0).map((each) => each.codePointAt(0)!)
  const ranges: (readonly [number, number])[] = []
  for (let i = 0; i < codes.length; i++) {
    const isRange = codes[i + 1] === 0x2d && i + 2 < codes.length
    ranges.push([codes[i]!, codes[isRange ? i + 2 : i]!])
    if (isRange) i += 2
  }
  return set(ranges, isNegated)
}

function set(ranges: CharacterSet['ranges'], isNegated = false): CharacterSet {
  return { kind: 'set', ranges, isNegated }
}

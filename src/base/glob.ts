/** Patterns of shells for one name: `*`, `?`, `[a-z]`, `[!a-z]` and escaped characters. */

/** Does a name as a whole match a pattern? A bracket that is never closed stands for itself. */
export function matchesGlob(pattern: string, name: string): boolean {
  return globExpression(pattern).test(name)
}

function globExpression(pattern: string): RegExp {
  let source = ''
  for (let i = 0; i < pattern.length; i++) {
    const c = pattern[i]!
    const close = c === '[' ? pattern.indexOf(']', i + 2) : -1
    if (c === '*') source += '[^]*'
    else if (c === '?') source += '[^]'
    else if (close > 0) {
      const isNegated = pattern[i + 1] === '!' || pattern[i + 1] === '^'
      const members = pattern.slice(i + (isNegated ? 2 : 1), close).replace(/[\\\]^[]/g, '\\$&')
      source += `[${isNegated ? '^' : ''}${members}]`
      i = close
    } else {
      if (c === '\\' && i + 1 < pattern.length) i++
      source += pattern[i]!.replace(/[$()*+.?[\\\]^{|}]/, '\\$&')
    }
  }
  return new RegExp(`^(?:${source})$`, 'u')
}

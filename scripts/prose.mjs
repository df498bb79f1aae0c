/**
 * Counts turns of phrase that make a reader stop, in comments, docs and longer strings. `npm run prose -- [--top N] [PATH...]` prints
 * rates and lines, and fails if there are more than LIMIT in 10,000 words. `--added REV` counts only lines added since REV.
 * A marker is a hint to rewrite the sentence around its subject; swapping a word helps nobody. CONTRIBUTING.md
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { top } from './lib/run.mjs'

/** Markers in 10,000 words of the whole checkout; the prose of undici and nats.js has 7. */
const LIMIT = 12
/** A few added lines may have one or two before their rate counts. */
const FEW = 2

const MARKERS = {
  somebody: /\b(?:whoever|somebody|nobody)\b/gi,
  'of ours': /\bof (?:ours|theirs|its own|their own)\b/gi,
  'is none': /\b(?:is|are) none\b/gi,
  'tells, hears, says': /\b(?:tells?|told|hears?|heard|says?|said|asks?|asked)\b/gi,
  'one that': /\b(?:one|those|what|who) that\b/gi,
  stands: /\bstands?\b/gi,
  'what is': /\bis what\b|\bwhat (?:is|are|was|has|can|may|must|counts|comes|belongs)\b/gi,
  'which is no': /\b(?:is|are) no (?!longer\b)[a-z]+/gi,
  'to be had': /\bto be had\b|\bbesides that\b|\bas it is\b/gi,
}

/** Prose of a file by line: comments and longer strings of code, Markdown but for its code blocks. */
export function proseOf(path, text) {
  const lines = text.split('\n')
  if (path.endsWith('.md')) {
    let isCode = false
    return lines.map((line) => {
      if (!/^\s*```/.test(line)) return isCode || line.startsWith('    ') ? '' : line
      isCode = !isCode
      return ''
    })
  }
  let isBlock = false
  return lines.map((line) => {
    if (isBlock || /^\s*\/\*/.test(line)) {
      isBlock = !line.includes('*/')
      return line
    }
    const comment = /(?:^|\s)\/\/(.*)$/.exec(line)?.[1] ?? ''
    const strings = Array.from(
      line.matchAll(/(['"`])((?:(?!\1)[^\\]|\\.){20,})\1/g),
      ([, , string]) => string,
    )
    return [comment, ...strings.filter((string) => /[a-z] [a-z]/.test(string))].join(' ')
  })
}

/** Names of the markers in a text, as often as they occur. */
export function markersIn(text) {
  return Object.entries(MARKERS).flatMap(([name, pattern]) => (text.match(pattern) ?? []).map(() => name))
}

const git = (...args) => execFileSync('git', args, { cwd: top, encoding: 'utf8', maxBuffer: 1 << 28 })

/** Numbers of the lines that were added since a revision, by file. */
function addedSince(revision) {
  const added = new Map()
  let lines
  for (const line of git('diff', '-U0', revision).split('\n')) {
    const file = /^\+\+\+ b\/(.*)/.exec(line)?.[1]
    const [, from, count = 1] = /^@@ -\S+ \+(\d+)(?:,(\d+))?/.exec(line) ?? []
    if (file !== undefined) {
      lines = new Set()
      added.set(file, lines)
    } else if (from !== undefined) for (let i = 0; i < Number(count); i++) lines?.add(Number(from) + i)
  }
  return added
}

function main(args) {
  const option = (name) => {
    const at = args.indexOf(name)
    return at < 0 ? undefined : args.splice(at, 2)[1]
  }
  const most = Number(option('--top') ?? 15)
  const revision = option('--added')
  const added = revision === undefined ? undefined : addedSince(revision)
  const files = git('ls-files', '-co', '--exclude-standard', ...args)
    .split('\n')
    .filter((path) => /\.(?:tsx?|m?js|md)$/.test(path) && !/(?:^|\/)(?:fixtures|vectors)\//.test(path))
    .filter((path) => path !== 'scripts/prose.mjs' && existsSync(join(top, path)))
  let words = 0
  const counts = new Map(Object.keys(MARKERS).map((name) => [name, 0]))
  const found = []
  for (const path of files) {
    if (added !== undefined && !added.has(path)) continue
    for (const [i, text] of proseOf(path, readFileSync(join(top, path), 'utf8')).entries()) {
      if (text === '' || (added !== undefined && !added.get(path).has(i + 1))) continue
      words += text.split(/\s+/).filter((word) => /[a-z]/i.test(word)).length
      const markers = markersIn(text)
      for (const name of markers) counts.set(name, counts.get(name) + 1)
      if (markers.length > 0)
        found.push({
          count: markers.length,
          line: `${path}:${i + 1}: ${text.trim().slice(0, 140)}  [${[...new Set(markers)].join('; ')}]`,
        })
    }
  }
  const total = found.reduce((sum, { count }) => sum + count, 0)
  const rate = (total / Math.max(words, 1)) * 10_000
  const isTooMuch = rate > LIMIT && total > (added === undefined ? 0 : FEW)
  for (const [name, count] of counts)
    if (added === undefined) console.log(`${String(count).padStart(6)}  ${name}`)
  for (const { line } of found.sort((a, b) => b.count - a.count).slice(0, added === undefined ? most : 200))
    console.log(line)
  console.log(
    `${words} words${added === undefined ? '' : ` added since ${revision}`}, ${total} markers, ${rate.toFixed(1)} in 10,000 words; at most ${LIMIT}`,
  )
  process.exitCode = isTooMuch ? 1 : 0
}

if (process.argv[1]?.endsWith('prose.mjs')) main(process.argv.slice(2))

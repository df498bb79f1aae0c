/** Parses a .url file: the address of a document and options. docs/reference/agents/openmetrics.md */

/** Result of FILTER lines for a metric or a label. */
export type Verdict = 'INCLUDE' | 'OPTIONAL' | 'EXCLUDE'

interface Filter {
  readonly verdict: Verdict
  readonly of: 'METRIC' | 'LABEL'
  readonly pattern: RegExp
}

/** A METADATA line: metadata of metrics with a matching name. */
export interface MetadataRule {
  readonly pattern: RegExp
  readonly type: string
  readonly indom: string
  readonly semantics: string
  readonly units: string
}

/** Contents of a .url file. */
export interface SourceConfig {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly filters: readonly Filter[]
  readonly metadata: readonly MetadataRule[]
  /** Invalid lines, and why. */
  readonly problems: readonly { readonly line: number; readonly why: string }[]
}

/** Configuration of a script, which has no .url file. */
export const NO_CONFIG: SourceConfig = { url: '', headers: {}, filters: [], metadata: [], problems: [] }

/** Parses a .url file. Never throws: an invalid line becomes a problem, and `url` is '' if there is no usable one. */
export function parseSourceConfig(text: string): SourceConfig {
  const problems: { line: number; why: string }[] = []
  const headers = new Map<string, string>()
  const filters: Filter[] = []
  const metadata: MetadataRule[] = []
  let url: string | undefined
  for (const [i, raw] of text.split('\n').entries()) {
    const line = raw.trim()
    if (line === '' || line.startsWith('#')) continue
    const add = (why: string | undefined): void => {
      if (why !== undefined) problems.push({ line: i + 1, why })
    }
    if (url === undefined) {
      const why = urlProblem(line)
      add(why)
      url = why === undefined ? line : ''
    } else if (line.startsWith('HEADER:')) add(addHeader(line.slice(7), headers))
    else if (line.startsWith('FILTER:')) add(addFilter(line.slice(7).trim(), filters))
    else if (line.startsWith('METADATA:')) add(addMetadata(line.slice(9).trim(), metadata))
    else add(`"${line}" starts with none of HEADER:, FILTER: and METADATA:`)
  }
  if (url === undefined) problems.push({ line: 1, why: 'the URL is missing' })
  return { url: url ?? '', headers: Object.fromEntries(headers), filters, metadata, problems }
}

/** Returns the verdict of the first matching rule, by default INCLUDE. Patterns match from the start of the name. */
export function verdictOn(config: SourceConfig, of: Filter['of'], name: string): Verdict {
  return config.filters.find((filter) => filter.of === of && filter.pattern.test(name))?.verdict ?? 'INCLUDE'
}

function urlProblem(text: string): string | undefined {
  if (!URL.canParse(text)) return `"${text}" is not a URL`
  const { protocol, host } = new URL(text)
  if (protocol === 'file:')
    return host === '' ? undefined : `"${text}" names a host: write file:///path, with three slashes`
  return protocol === 'http:' || protocol === 'https:'
    ? undefined
    : `"${protocol}" is not one of http:, https:, file:`
}

function addHeader(text: string, headers: Map<string, string>): string | undefined {
  const colon = text.indexOf(':')
  const name = text.slice(0, Math.max(colon, 0)).replace(/\s/g, '')
  const value = text
    .slice(colon + 1)
    .trim()
    .replace(/\s+/g, ' ')
  if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name)) return 'HEADER: must be followed by NAME: VALUE'
  if (/[^\t\x20-\x7e\x80-\xff]/.test(value)) return `header ${name} has invalid characters`
  headers.set(name, value)
  return undefined
}

function addFilter(text: string, filters: Filter[]): string | undefined {
  const [verdict, of, ...rest] = text.split(/\s+/)
  if (verdict !== 'INCLUDE' && verdict !== 'EXCLUDE' && verdict !== 'OPTIONAL')
    return `"${verdict}" is not one of INCLUDE, EXCLUDE, OPTIONAL`
  if (of !== 'METRIC' && of !== 'LABEL') return `"${of ?? ''}" is neither METRIC nor LABEL`
  if (verdict === 'OPTIONAL' && of === 'METRIC') return 'only labels can be OPTIONAL'
  if (rest.length === 0) return 'the pattern is missing'
  const pattern = patternOf(rest.join(' '))
  if (typeof pattern === 'string') return pattern
  filters.push({ verdict, of, pattern })
  return undefined
}

function addMetadata(text: string, rules: MetadataRule[]): string | undefined {
  const [regex, type, indom, semantics, ...units] = text.split(/\s+/)
  if (semantics === undefined || units.length === 0)
    return 'METADATA: must be followed by a pattern, type, instance domain, semantics and units'
  const pattern = patternOf(regex!)
  if (typeof pattern === 'string') return pattern
  rules.push({ pattern, type: type!, indom: indom!, semantics, units: units.join(' ') })
  return undefined
}

/** Compiles a pattern with the semantics of Python's re.match: anchored at the start only. Returns a message for an invalid one. */
function patternOf(text: string): RegExp | string {
  const [, flags = '', rest = text] = /^\(\?([ims]+)\)(.*)$/.exec(text) ?? []
  try {
    return new RegExp(`^(?:${rest.replace(/\(\?P</g, '(?<')})`, flags)
  } catch (error) {
    return `"${text}" is not a valid pattern: ${(error as Error).message}`
  }
}

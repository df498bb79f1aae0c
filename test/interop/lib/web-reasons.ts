/** Reasons for different replies of ours and PCP 6.0.3: intended, or defects of 6.0.3. docs/reference/pmproxy.md, docs/explanation/differences.md */

/** A normalized reply. */
export interface Comparable {
  readonly status: number
  readonly body: unknown
  readonly headers?: readonly (readonly [string, string])[]
}

/** A reason, and when it applies. */
export interface Reason {
  readonly why: string
  readonly holds: (what: string, ours: Comparable | undefined, theirs: Comparable | undefined) => boolean
}

const says = (answer: Comparable | undefined, words: RegExp): boolean =>
  words.test(JSON.stringify(answer?.body) ?? '')

/** Returns a reason for matching requests. */
const forRequest = (why: string, what: RegExp): Reason => ({ why, holds: (asked) => what.test(asked) })

/** The first applicable reason is used; each must be used at least once. */
export const REASONS: readonly Reason[] = [
  { why: 'PCP crashes, or never replies', holds: (_, __, theirs) => theirs === undefined },
  {
    why: 'unknown paths are 404',
    holds: (_, ours, theirs) => ours?.status === 404 && theirs?.status === 400,
  },
  {
    why: 'a rejected login is 401, with a challenge',
    holds: (_, ours, theirs) =>
      ours?.status === 401 &&
      theirs?.status === 400 &&
      JSON.stringify(ours.body) === JSON.stringify(theirs.body),
  },
  { why: 'bytes that are not ASCII are UTF-8, not U+FFFD', holds: (_, __, theirs) => says(theirs, /\ufffd/) },
  {
    why: 'every reply names its client',
    holds: (_, ours, theirs) => JSON.stringify(withoutClient(ours)) === JSON.stringify(theirs),
  },
  {
    why: 'PCP rejects valid values while errno is left over from an earlier call',
    holds: (what, _, theirs) => /store/.test(what) && says(theirs, /Numerical result out of range/),
  },
  forRequest('a NUL does not end a text', /%00/),
  forRequest(
    'no value is not a leftover 0',
    /fetch\?names?=(?:sample\.bad\.\w+,)*(?:.*sample\.noinst|sample\.event\.type|sample\.bad\.nosupport)/,
  ),
  forRequest(
    'duplicates in a request are answered once',
    /(?:sample\.long\.one,sample\.long\.one|60\.0\.32,60\.0\.32)$/,
  ),
  forRequest(
    'identifiers are numbers and nothing else, and do not wrap',
    /pmids?=(?:60\.0\.32\.1|60\.4096\.1|60\.0\.1024|%2060|60\.0\.32%20)|indom=(?:999|29\.1\.1|29\.4194304|29\.1,|%20)|instance=(?:abc|0x1|1\.5)|context=(?:-1|xyz)|\/4294967296\/|:99999$/,
  ),
  forRequest('an empty element of a list is ignored', /(?:iname|instance)=,$|name=,sample/),
  forRequest('timeouts are bounded', /polltimeout=(?:-1|inf|nan)/),
  forRequest('the labels of a container name it', /container=nosuch/),
  forRequest('no match is not everything', /after=nosuch/),
  forRequest('a missing instance is reported', /store\?name=sample\.colour&value=400&i(?:nstance|name)=/),
  forRequest('an unknown way to match is reported', /store.*&match=xyz/),
  forRequest('a number that JSON does not have is null', /fetch\?name=sample\.(?:float|double)\.write_me/),
  forRequest(
    'expressions without operands are not metrics',
    /\/children(?:\?(?:client=x|names=sample|(?:prefix|name)=))?$/,
  ),
  {
    why: 'names of expressions are checked',
    holds: (_, ours) => says(ours, /Illegal derived metric name/),
  },
  { why: '7.2 checks operands immediately', holds: (_, ours) => says(ours, /Semantic Error/) },
  { why: 'a line without = is reported', holds: (_, ours) => says(ours, /missing =/) },
  forRequest('7.2 knows novalue()', /novalue/),
  forRequest(
    '7.2 leaves out unknown names of a list',
    /\/metrics\?.*=sample\.long\.one,(?:no\.such|%20sample)/,
  ),
  forRequest('the page is there', /^\/$/),
  forRequest(
    'preflights need no parameters',
    /^(?:OPTIONS|preflight of \w+) \/(?:pmapi\/fetch|series\/query)$/,
  ),
  forRequest(
    'every route below /series takes forms',
    /^(?:OPTIONS|preflight of \w+) \/series\/ping$|^series ping by form/,
  ),
  forRequest('routes have one name each', /fetch\/more/),
  forRequest('WebSockets are for the page', /^websocket/),
  forRequest("only the collector's socket is used", /hostspec=unix:\/no/),
  forRequest('TRACE would show scripts headers that browsers hide from them', /^TRACE /),
  forRequest('HTTP/1.1 needs a Host', /^HTTP\/1\.1 without host/),
  forRequest('a request may name the whole URL', /^absolute form/),
  forRequest('lines end in CR LF', /^line feeds alone/),
  forRequest('a percent sign may be literal', /^bad percent/),
  forRequest('a Basic header without credentials is none', /^basic without credentials/),
  forRequest('bodies may come in chunks', /^derive in chunks/),
  forRequest('an empty body is not a value', /^store nothing/),
  forRequest('lists that do not fit into a URL come as forms', /^fetch by (?:URL and )?form/),
]

function withoutClient(answer: Comparable | undefined): unknown {
  if (answer === undefined || typeof answer.body !== 'object') return answer
  const { client: _, ...rest } = answer.body as { client?: unknown }
  return { ...answer, body: rest }
}

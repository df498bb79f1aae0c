/** Why an answer of ours differs from PCP's 6.0.3, on purpose or because that has a defect. docs/pmproxy.md, docs/differences.md */

/** An answer as it is compared. */
export interface Comparable {
  readonly status: number
  readonly body: unknown
  readonly headers?: readonly (readonly [string, string])[]
}

/** One reason, and what it is good for. */
export interface Reason {
  readonly why: string
  readonly holds: (what: string, ours: Comparable | undefined, theirs: Comparable | undefined) => boolean
}

const says = (answer: Comparable | undefined, words: RegExp): boolean =>
  words.test(JSON.stringify(answer?.body) ?? '')

/** A reason for requests that look like this. */
const forRequest = (why: string, what: RegExp): Reason => ({ why, holds: (asked) => what.test(asked) })

/** The first that holds counts; every one has to be there for something. */
export const REASONS: readonly Reason[] = [
  { why: 'PCP ends, or never answers', holds: (_, __, theirs) => theirs === undefined },
  {
    why: 'what is not there is 404',
    holds: (_, ours, theirs) => ours?.status === 404 && theirs?.status === 400,
  },
  { why: 'bytes that are not ASCII are UTF-8, not U+FFFD', holds: (_, __, theirs) => says(theirs, /\ufffd/) },
  {
    why: 'every answer tells its client',
    holds: (_, ours, theirs) => JSON.stringify(withoutClient(ours)) === JSON.stringify(theirs),
  },
  {
    why: 'PCP refuses what is in range while errno is left over from something else',
    holds: (what, _, theirs) => /store/.test(what) && says(theirs, /Numerical result out of range/),
  },
  forRequest('a NUL does not end a text', /%00/),
  forRequest(
    'no value is not a leftover 0',
    /fetch\?names?=(?:sample\.bad\.\w+,)*(?:.*sample\.noinst|sample\.event\.type|sample\.bad\.nosupport)/,
  ),
  forRequest(
    'what is asked for twice is answered once',
    /(?:sample\.long\.one,sample\.long\.one|60\.0\.32,60\.0\.32)$/,
  ),
  forRequest(
    'identifiers are numbers and nothing else, and do not wrap',
    /pmids?=(?:60\.0\.32\.1|60\.4096\.1|60\.0\.1024|%2060|60\.0\.32%20)|indom=(?:999|29\.1\.1|29\.4194304|29\.1,|%20)|instance=(?:abc|0x1|1\.5)|context=(?:-1|xyz)|\/4294967296\/|:99999$/,
  ),
  forRequest('an empty element of a list is none', /(?:iname|instance)=,$|name=,sample/),
  forRequest('timeouts are bounded', /polltimeout=(?:-1|inf|nan)/),
  forRequest('the labels of a container say which', /container=nosuch/),
  forRequest('no match is not everything', /after=nosuch/),
  forRequest(
    'an instance that is not there is told',
    /store\?name=sample\.colour&value=400&i(?:nstance|name)=/,
  ),
  forRequest('a way to match that nobody knows is told', /store.*&match=xyz/),
  forRequest('a number that JSON does not have is null', /fetch\?name=sample\.(?:float|double)\.write_me/),
  forRequest(
    'expressions without operands are no metrics',
    /\/children(?:\?(?:client=x|names=sample|(?:prefix|name)=))?$/,
  ),
  {
    why: 'names of expressions are looked at',
    holds: (_, ours) => says(ours, /Illegal derived metric name/),
  },
  { why: '7.2 looks at operands at once', holds: (_, ours) => says(ours, /Semantic Error/) },
  { why: 'a line without = is told', holds: (_, ours) => says(ours, /missing =/) },
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
  forRequest("no socket but the collector's is looked at", /hostspec=unix:\/no/),
  forRequest('TRACE tells scripts what browsers hide from them', /^TRACE /),
  forRequest('HTTP/1.1 needs a Host', /^HTTP\/1\.1 without host/),
  forRequest('a request may name the whole URL', /^absolute form/),
  forRequest('lines end in CR LF', /^line feeds alone/),
  forRequest('a percent sign may stand for itself', /^bad percent/),
  forRequest('a Basic header without credentials is none', /^basic without credentials/),
  forRequest('bodies may come in chunks', /^derive in chunks/),
  forRequest('an empty body is no value', /^store nothing/),
  forRequest('lists that do not fit into a URL come as forms', /^fetch by (?:URL and )?form/),
]

function withoutClient(answer: Comparable | undefined): unknown {
  if (answer === undefined || typeof answer.body !== 'object') return answer
  const { client: _, ...rest } = answer.body as { client?: unknown }
  return { ...answer, body: rest }
}

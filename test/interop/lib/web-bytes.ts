/** Requests as bytes for two pmproxies: methods, versions, headers and bodies. docs/reference/pmproxy.md */

const TARGETS = [
  '/pmapi/context',
  '/pmapi/fetch?name=sample.long.one',
  '/pmapi/fetch',
  '/pmapi/derive?name=a.b&expr=hinv.ncpu',
  '/pmapi/store?name=sample.long.write_me&value=13',
  '/pmapi/profile?expr=add',
  '/metrics?names=sample.long.one',
  '/series/ping',
  '/series/query',
  '/nothing',
]

/** Returns a request with these header lines, and a body of known length. */
export function requestBytes(
  method: string,
  target: string,
  headers: readonly string[] = [],
  body = '',
  version = '1.1',
): string {
  const lines = [`${method} ${target} HTTP/${version}`, 'Host: localhost', ...headers]
  if (body !== '') lines.push(`Content-Length: ${Buffer.byteLength(body)}`)
  return `${lines.join('\r\n')}\r\n\r\n${body}`
}

/** Splits the text into two chunks. */
function chunked(text: string): string {
  const half = Math.floor(text.length / 2)
  const chunks = [text.slice(0, half), text.slice(half)].filter((part) => part !== '')
  return `${chunks.map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join('')}0\r\n\r\n`
}

const CORS = (method: string, headers?: string): string[] => [
  'Origin: http://grafana.example:3000',
  `Access-Control-Request-Method: ${method}`,
  ...(headers === undefined ? [] : [`Access-Control-Request-Headers: ${headers}`]),
]

const CONTEXT = '/pmapi/context'
const DERIVE = '/pmapi/derive'
const STORE = '/pmapi/store?name=sample.long.write_me'
const FORM = 'Content-Type: application/x-www-form-urlencoded'

/** Requests by name. */
export const REQUEST_BYTES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE'].flatMap((method) =>
      TARGETS.map((target) => [`${method} ${target}`, requestBytes(method, target)]),
    ),
  ),
  ...Object.fromEntries(
    TARGETS.flatMap((target) =>
      ['GET', 'POST', 'HEAD', 'PUT', 'DELETE', 'get'].map((method) => [
        `preflight of ${method} ${target}`,
        requestBytes('OPTIONS', target, CORS(method)),
      ]),
    ),
  ),
  'preflight with headers': requestBytes('OPTIONS', CONTEXT, CORS('GET', 'content-type')),
  'preflight with unknown headers': requestBytes('OPTIONS', CONTEXT, CORS('GET', 'x-grafana-device-id, x-y')),
  'preflight without origin': requestBytes('OPTIONS', CONTEXT, ['Access-Control-Request-Method: GET']),
  'preflight without method': requestBytes('OPTIONS', CONTEXT, ['Origin: http://x']),
  'preflight of all': requestBytes('OPTIONS', '*', CORS('GET')),
  'preflight of a context': requestBytes('OPTIONS', '/pmapi/1/fetch?name=a', CORS('GET')),
  origin: requestBytes('GET', CONTEXT, ['Origin: http://grafana.example:3000']),
  'null origin': requestBytes('GET', CONTEXT, ['Origin: null']),
  'HTTP/1.0': requestBytes('GET', CONTEXT, [], '', '1.0'),
  'HTTP/1.0 keep-alive': requestBytes('GET', CONTEXT, ['Connection: keep-alive'], '', '1.0'),
  'HTTP/1.0 without host': `GET ${CONTEXT} HTTP/1.0\r\n\r\n`,
  'HTTP/1.1 close': requestBytes('GET', CONTEXT, ['Connection: close']),
  'HTTP/1.1 without host': `GET ${CONTEXT} HTTP/1.1\r\n\r\n`,
  'HTTP/0.9': `GET ${CONTEXT}\r\n\r\n`,
  'HTTP/2.0': requestBytes('GET', CONTEXT, [], '', '2.0'),
  'HTTP/2 upgrade': requestBytes('GET', CONTEXT, [
    'Connection: Upgrade, HTTP2-Settings',
    'Upgrade: h2c',
    'HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA',
  ]),
  'websocket upgrade': requestBytes('GET', CONTEXT, [
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    'Sec-WebSocket-Version: 13',
  ]),
  'lower-case method': requestBytes('get', CONTEXT),
  'unknown method': requestBytes('GOT', CONTEXT),
  'line feeds alone': `GET ${CONTEXT} HTTP/1.1\nHost: localhost\n\n`,
  'absolute form': requestBytes('GET', `http://localhost${CONTEXT}`),
  'two slashes': requestBytes('GET', '//pmapi/context'),
  'encoded route': requestBytes('GET', '/%70mapi/%63ontext'),
  'bad percent': requestBytes('GET', '/pmapi/context?client=%zz'),
  'bad percent at the end': requestBytes('GET', '/pmapi/context?client=a%2'),
  'two questions': requestBytes('GET', '/pmapi/context?client=a?b'),
  'equals in a value': requestBytes('GET', '/pmapi/context?client=a%3Db'),
  semicolon: requestBytes('GET', '/pmapi/context?client=a;b'),
  'a thousand parameters': requestBytes(
    'GET',
    `/pmapi/context?${Array.from({ length: 500 }, (_, i) => `p${i}=${i}`).join('&')}&client=x`,
  ),
  'header in other case': requestBytes('OPTIONS', CONTEXT, [
    'origin: http://x',
    'access-control-request-method: GET',
  ]),
  'empty header': requestBytes('GET', CONTEXT, ['X-A:']),
  'header without colon': requestBytes('GET', CONTEXT, ['nonsense']),
  'long header': requestBytes('GET', CONTEXT, [`X-A: ${'a'.repeat(4000)}`]),
  basic: requestBytes('GET', CONTEXT, [`Authorization: Basic ${Buffer.from('a:b').toString('base64')}`]),
  'basic without colon': requestBytes('GET', CONTEXT, [
    `Authorization: Basic ${Buffer.from('ab').toString('base64')}`,
  ]),
  'basic without credentials': requestBytes('GET', CONTEXT, ['Authorization: Basic']),
  'basic that is none': requestBytes('GET', CONTEXT, ['Authorization: Basic !!!']),
  bearer: requestBytes('GET', CONTEXT, ['Authorization: Bearer abc']),
  'GET with a body': requestBytes('GET', CONTEXT, [], 'hello'),
  'derive a line': requestBytes('POST', DERIVE, [], 'post.a = hinv.ncpu\n'),
  'derive two lines': requestBytes(
    'POST',
    DERIVE,
    ['Content-Type: text/plain'],
    'post.a = hinv.ncpu\npost.b = hinv.ncpu * 2\n',
  ),
  'derive in chunks': `${requestBytes('POST', DERIVE, ['Transfer-Encoding: chunked'])}${chunked('post.a = hinv.ncpu\npost.b = hinv.ncpu * 2\n')}`,
  'derive with CR LF': requestBytes('POST', DERIVE, [], 'post.a = hinv.ncpu\r\npost.b = hinv.ncpu\r\n'),
  'derive with a comment': requestBytes('POST', DERIVE, [], '# comment\npost.a = hinv.ncpu\n'),
  'derive without end': requestBytes('POST', DERIVE, [], 'post.a = hinv.ncpu'),
  'derive a form': requestBytes('POST', DERIVE, [FORM], 'name=post.a&expr=hinv.ncpu'),
  'derive with name and body': requestBytes('POST', `${DERIVE}?name=post.a`, [], 'hinv.ncpu'),
  'derive with everything': requestBytes(
    'POST',
    `${DERIVE}?name=post.a&expr=hinv.ncpu`,
    [],
    'post.b = hinv.ncpu\n',
  ),
  'derive nothing': requestBytes('POST', DERIVE, ['Content-Length: 0']),
  'derive a mistake': requestBytes('POST', DERIVE, [], 'post.a = hinv.ncpu *\n'),
  'derive the same twice': requestBytes('POST', DERIVE, [], 'post.a = hinv.ncpu\npost.a = hinv.ncpu\n'),
  'derive blanks': requestBytes('POST', DERIVE, [], '\n\n  \n'),
  'derive after 100': requestBytes('POST', DERIVE, ['Expect: 100-continue'], 'post.a = hinv.ncpu\n'),
  'store a body': requestBytes('POST', STORE, [], '7'),
  'store a body with a line end': requestBytes('POST', STORE, [], '7\n'),
  'store in chunks': `${requestBytes('POST', STORE, ['Transfer-Encoding: chunked'])}${chunked('17')}`,
  'store a form': requestBytes('POST', STORE, [FORM], 'value=7'),
  'store nothing': requestBytes('POST', STORE, ['Content-Length: 0']),
  'store value and body': requestBytes('POST', `${STORE}&value=9`, [], '8'),
  'store text': requestBytes(
    'POST',
    '/pmapi/store?name=sample.string.write_me',
    ['Content-Type: text/plain'],
    'some text',
  ),
  'series ping by form': requestBytes('POST', '/series/ping', [FORM], 'client=x'),
  'fetch by form': requestBytes('POST', '/pmapi/fetch', [FORM], 'names=sample.long.one'),
  'fetch by URL and form': requestBytes(
    'POST',
    '/pmapi/fetch?names=sample.long.one',
    [FORM],
    'names=sample.long.ten',
  ),
  'accept json': requestBytes('GET', '/metrics?names=sample.long.one', [
    'Accept: text/plain;version=0.0.4;q=0.5,*/*;q=0.1',
  ]),
  'accept as Prometheus': requestBytes('GET', '/metrics?names=sample.long.one', [
    'User-Agent: Prometheus/3.5.0',
    'Accept: application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2',
    'Accept-Encoding: gzip',
    'X-Prometheus-Scrape-Timeout-Seconds: 10',
  ]),
  ...Object.fromEntries(
    [
      'gzip',
      'deflate',
      'br',
      'gzip, deflate',
      'br, gzip',
      'deflate,gzip',
      'identity',
      '*',
      'gzip;q=0',
      'zstd',
      '',
    ].map((coding) => [
      `accept coding "${coding}"`,
      requestBytes('GET', '/pmapi/metric?prefix=sample.long', [`Accept-Encoding: ${coding}`]),
    ]),
  ),
}

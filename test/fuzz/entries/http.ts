/** Requests to a pmproxy over a connection: the first line, headers, parameters and bodies. */
import { type FuzzEntry, hold } from '../engine/entry.ts'
import { closeLiveServer, exchange, holdNoErrors, liveServer } from './live-server.ts'

const TARGETS = [
  '/pmapi/context?hostspec=localhost&polltimeout=5',
  '/pmapi/fetch?names=sample.long.one,sample.bin',
  '/pmapi/fetch?pmids=29.0.10&instances=100',
  '/pmapi/metric?prefix=sample.long',
  '/pmapi/indom?name=sample.bin&match=regex&iname=bin-[1-4]',
  '/pmapi/children?prefix=sample',
  '/pmapi/profile?expr=add&name=sample.bin&instances=100',
  '/pmapi/derive?name=x.y&expr=sample.long.one%20%2B%201',
  '/pmapi/store?name=sample.write_me&value=7',
  '/metrics?target=simple',
  '/search/text?query=cpu',
  '/series/query?expr=sample.long.one',
  '/ui/api/archives',
  '/architecture.md',
]

/** Entry of src/pmproxy. */
export const http: FuzzEntry = {
  isText: true,
  seeds: () =>
    [
      ...TARGETS.map(
        (target) => `GET ${target} HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n`,
      ),
      'POST /pmapi/fetch HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 27\r\n\r\nnames=sample.long.one&x=%41',
      'GET /pmapi/context HTTP/1.0\r\nAuthorization: Basic YTpi\r\nOrigin: http://x\r\n\r\n',
      'OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n',
    ].map((text) => new TextEncoder().encode(text)),
  words: ['\r\n', '%00', '%e9', 'Transfer-Encoding: chunked\r\n', 'Range: bytes=0-1\r\n'].map((word) =>
    new TextEncoder().encode(word),
  ),
  close: closeLiveServer,
  async run(input) {
    const server = await liveServer()
    const answer = (await exchange(server.proxy.port, input)).toString('latin1')
    hold(!answer.startsWith('HTTP/1.1 500'), 'no answer has status 500')
    holdNoErrors(server)
  },
}

/** /ui/api/excerpt: a part of an archive as files, for incidents. docs/reference/pmproxy.md */
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { excerpt } from '../../archive/excerpt.ts'
import { excerptName } from '../../archive/excerpt-name.ts'
import { PcpError } from '../../model/errors.ts'
import { yieldToEventLoop } from '../../sys/event-loop.ts'
import { fromSeconds } from '../../time/stamp.ts'
import type { ArchiveRoots } from '../archives.ts'
import { json, type Reply } from '../http/reply.ts'
import type { WebRequest } from '../http/request.ts'
import { isNamed, type WebUser } from '../web-user.ts'
import { moment } from './page-call.ts'

const compress = promisify(gzip)

/** Most bytes of records, before compression. */
const MOST_BYTES = 64 << 20

/** Handles the route. PM_ERR_ARG for an invalid window or no archive, errors of `excerpt`; stops when the client has gone. */
export async function answerExcerpt(
  { query, signal }: Pick<WebRequest, 'query' | 'signal'>,
  archives: ArchiveRoots,
  user: WebUser,
): Promise<Reply> {
  const archive = query.get('archive')
  if (archive === undefined) throw new PcpError('PM_ERR_ARG', 'archive is required')
  const [start, finish] = [moment(query.get('start'), 'start', 0), moment(query.get('finish'), 'finish', 0)]
  if (!(finish > start)) throw new PcpError('PM_ERR_ARG', 'finish must be after start')
  const opened = archives.openRecords(archive, { seesProcesses: isNamed(user) })
  try {
    const turn = async (): Promise<void> => {
      await yieldToEventLoop()
      signal.throwIfAborted()
    }
    const files = await excerpt(opened, {
      from: fromSeconds(start),
      to: fromSeconds(finish),
      pid: process.pid,
      maxBytes: MOST_BYTES,
      turn,
    })
    const base = excerptName(opened.label.hostname, start)
    const packed: (readonly [name: string, base64: string])[] = []
    for (const [part, bytes] of files) {
      packed.push([`${base}.${part}.gz`, (await compress(bytes)).toString('base64')])
      signal.throwIfAborted()
    }
    return json(
      JSON.stringify({
        base,
        files: packed,
      }),
    )
  } finally {
    opened.close()
  }
}

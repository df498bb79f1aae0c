/** /ui/api/excerpt: a part of an archive as files, for incidents. docs/reference/pmproxy.md */
import { gzipSync } from 'node:zlib'
import { excerpt } from '../../archive/excerpt.ts'
import { excerptName } from '../../archive/excerpt-name.ts'
import { PcpError } from '../../model/errors.ts'
import { fromSeconds } from '../../time/stamp.ts'
import type { ArchiveRoots } from '../archives.ts'
import type { Query } from '../http/query.ts'
import { json, type Reply } from '../http/reply.ts'
import { isNamed, type WebUser } from '../web-user.ts'
import { moment } from './page-call.ts'

/** Name of the route. */
export const EXCERPT_ROUTE = 'excerpt'

/** Most bytes of records, before compression. */
const MOST_BYTES = 64 << 20

/** Handles the route. PM_ERR_ARG for an invalid window, errors of `excerpt`. */
export function answerExcerpt(archive: string, query: Query, archives: ArchiveRoots, user: WebUser): Reply {
  const [start, finish] = [moment(query.get('start'), 'start', 0), moment(query.get('finish'), 'finish', 0)]
  if (!(finish > start)) throw new PcpError('PM_ERR_ARG', 'finish must be after start')
  const opened = archives.openRecords(archive, { seesProcesses: isNamed(user) })
  try {
    const files = excerpt(opened, {
      from: fromSeconds(start),
      to: fromSeconds(finish),
      pid: process.pid,
      maxBytes: MOST_BYTES,
    })
    const base = excerptName(opened.label.hostname, start)
    return json(
      JSON.stringify({
        base,
        files: [...files].map(([part, bytes]) => [`${base}.${part}.gz`, gzipSync(bytes).toString('base64')]),
      }),
    )
  } finally {
    opened.close()
  }
}

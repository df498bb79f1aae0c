/** /ui/api/processes: the processes of an instant, for the table of the page. docs/reference/pmproxy.md */
import { toSeconds } from '../../base/timestamp.ts'
import { json, type Reply } from '../http/reply.ts'
import { processesNow, recordedProcesses } from '../processes.ts'
import { moment, type PageCall } from './page-call.ts'

/**
 * Handles the route: with `archive`, the recorded processes at `at`, by default at its end; with `host`, all processes now. The context
 * decides what its user may see. PM_ERR_ARG for an invalid time.
 */
export async function processes({ request: { query, signal }, context }: PageCall): Promise<Reply> {
  const { archive } = context
  const found =
    archive === undefined
      ? await processesNow(context, signal)
      : await recordedProcesses(
          context,
          archive,
          moment(query.get('at'), 'at', toSeconds(archive.end())),
          signal,
        )
  return json(JSON.stringify(found))
}

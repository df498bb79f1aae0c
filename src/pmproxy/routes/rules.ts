/** /ui/api/rules: where rules of pmie would have fired in an archive. docs/reference/pmproxy.md */
import { contextZoneName } from '../../pmapi/context-zone.ts'
import { firings } from '../../rules/firings.ts'
import type { ReplayTurn } from '../../rules/replay.ts'
import { EventLoopTurn } from '../../sys/event-loop.ts'
import { readZoneFile } from '../../sys/zones.ts'
import { newZone, UTC, type Zone } from '../../time/zone.ts'
import type { Query } from '../http/query.ts'
import { json, type Reply } from '../http/reply.ts'
import { moment, type PageCall } from './page-call.ts'
import { timeLimit } from './time-limit.ts'

const DEFAULT_DELTA_SEC = 10

/** Handles the route. Errors of `firings`; PM_ERR_TIMEOUT if the evaluation takes too long. */
export async function rules({ request, services, context }: PageCall): Promise<Reply> {
  const { query, signal } = request
  const answer = await firings(
    context,
    {
      text: query.get('rules') ?? '',
      start: optionalMoment(query, 'start'),
      finish: optionalMoment(query, 'finish'),
      deltaSec: moment(query.get('delta'), 'delta', DEFAULT_DELTA_SEC),
    },
    {
      name: query.get('archive') ?? '',
      zone: await hostZone(context),
      turn: limitedTurn(signal),
      signal,
      wraps: services.archives.wraps,
    },
  )
  return json(JSON.stringify(answer))
}

function optionalMoment(query: Query, name: string): number | undefined {
  const text = query.get(name)
  return text === undefined || text === '' ? undefined : moment(text, name, 0)
}

/** Returns the zone of the recorded host, in which its pmie evaluates rules; UTC if it is unknown. */
async function hostZone(context: PageCall['context']): Promise<Zone> {
  const name = await contextZoneName(context).catch(() => 'UTC')
  return newZone(name, (file) => readZoneFile(file)) ?? UTC
}

function limitedTurn(signal: AbortSignal): ReplayTurn {
  const check = timeLimit(
    signal,
    'Evaluating the rules takes too long; use a longer delta or a shorter window',
  )
  const turn = new EventLoopTurn()
  return {
    shouldYield: () => turn.shouldYield(),
    yield: async () => {
      await turn.yield()
      check()
    },
  }
}

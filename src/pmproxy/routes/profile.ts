/** /pmapi/profile: which instances the fetches of a context return. docs/pmproxy.md, pmAddProfile(3) */
import { PcpError } from '../../model/errors.ts'
import { PM_INDOM_NULL } from '../../model/ids.ts'
import { exclude, include } from '../../model/profile.ts'
import { orNothing } from '../describe.ts'
import { json } from '../http/reply.ts'
import { matchKind } from '../match.ts'
import { askedIndom, chooseInstances } from './indom.ts'
import type { ApiRoute } from './session.ts'

/** Instances that a context may list, a domain counting as some: what the collector would not take in a PDU ends the connection for all. */
const MOST_LISTED = 10_000
const OF_DOMAIN = 8

/** The route. */
export const profile: ApiRoute = {
  needs: ['expr'],
  check: (query) => void matchKind(query.get('match')),
  act: async ({ web, start, query, request, services }) => {
    const { context } = web
    const expr = query.get('expr')
    const change = expr === 'add' ? include : expr === 'del' ? exclude : undefined
    if (change === undefined) throw new PcpError('PM_ERR_ARG', `${expr} - invalid 'expr' parameter value`)
    const hasDomain = query.get('name', 'indom') !== undefined
    const options = { signal: request.signal }
    const domain = hasDomain ? await askedIndom(context, query, options) : PM_INDOM_NULL
    if (domain === undefined) throw new PcpError('PM_ERR_INDOM', 'invalid profile parameters')
    const listed = query.list('instance')
    let instances: readonly number[] = []
    // Numbers count whether there is such an instance now or not.
    if (listed !== undefined && query.get('iname') === undefined)
      instances = listed.map(Number).filter(Number.isSafeInteger)
    else if (hasDomain && query.get('iname') !== undefined) {
      const found = await orNothing(context.instances(domain, options))
      if (found !== undefined) instances = chooseInstances(query, found).map((i) => found.ids[i]!)
      // No match must not stand for all of them.
      if (instances.length === 0) return json(`{${start}"success":true}`)
    }
    // The first instance that is taken out of a domain takes all others with it (pmapi-profile.json, fresh-del-one).
    const own = await web.own()
    const isFirst = change === exclude && !own.profile.entries.has(domain)
    const changed = change(own.profile, domain, isFirst ? [] : instances)
    let listing = 0
    for (const entry of changed.entries.values()) listing += OF_DOMAIN + entry.instances.size
    if (listing > MOST_LISTED) throw new PcpError('E2BIG', `A profile of more than ${MOST_LISTED} instances`)
    own.profile = changed
    services.contexts.weigh(web)
    return json(`{${start}"success":true}`)
  },
}

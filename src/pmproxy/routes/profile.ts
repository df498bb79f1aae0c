/** /pmapi/profile: selects the instances that fetches of a context return. docs/reference/pmproxy.md, pmAddProfile(3) */
import { PcpError } from '../../model/errors.ts'
import { PM_INDOM_NULL } from '../../model/ids.ts'
import { exclude, include } from '../../model/profile.ts'
import { orUndefined } from '../describe.ts'
import { json } from '../http/reply.ts'
import { matchKind } from '../match.ts'
import { chooseInstances, requestedIndom } from './indom.ts'
import type { ApiRoute } from './session.ts'

/** Maximum number of instances in a profile, with an amount for each domain. A larger PDU would make the collector close the connection for all. */
const MOST_LISTED = 10_000
const OF_DOMAIN = 8

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
    const domain = hasDomain ? await requestedIndom(context, query, options) : PM_INDOM_NULL
    if (domain === undefined) throw new PcpError('PM_ERR_INDOM', 'invalid profile parameters')
    const listed = query.list('instance')
    let instances: readonly number[] = []
    // Numbers need not be those of existing instances.
    if (listed !== undefined && query.get('iname') === undefined)
      instances = listed.map(Number).filter(Number.isSafeInteger)
    else if (hasDomain && query.get('iname') !== undefined) {
      const found = await orUndefined(context.instances(domain, options))
      if (found !== undefined) instances = chooseInstances(query, found).map((i) => found.ids[i]!)
      // An empty list means all instances, so a pattern without a match must not produce one.
      if (instances.length === 0) return json(`{${start}"success":true}`)
    }
    // Removing the first instance of a domain from a fresh profile removes all others too (pmapi-profile.json, fresh-del-one).
    const own = await web.makePrivate()
    const isFirst = change === exclude && !own.profile.entries.has(domain)
    const changed = change(own.profile, domain, isFirst ? [] : instances)
    let listing = 0
    for (const entry of changed.entries.values()) listing += OF_DOMAIN + entry.instances.size
    if (listing > MOST_LISTED) throw new PcpError('E2BIG', `A profile of more than ${MOST_LISTED} instances`)
    own.profile = changed
    services.contexts.updateSize(web)
    return json(`{${start}"success":true}`)
  },
}

/** Dispatches requests. A new group of routes is a file in routes/ and a line here. docs/reference/pmproxy.md */
import { page, type Reply } from './http/reply.ts'
import type { WebRequest } from './http/request.ts'
import { answerWithoutKeyServer } from './routes/keyless.ts'
import { answerLogger } from './routes/logger.ts'
import { answerPageApi } from './routes/page-api.ts'
import { answerPage } from './routes/page-files.ts'
import { answerApi } from './routes/pmapi.ts'
import { answerSeriesRequest } from './routes/series-archives.ts'
import type { Services } from './services.ts'

/** Answers requests of a group; undefined for other paths. */
type Group = (request: WebRequest, services: Services) => Promise<Reply | undefined> | undefined

const GROUPS: readonly Group[] = [
  (request, services) => (isApi(request.path) ? answerApi(request, services) : undefined),
  answerPageApi,
  (request, { config }) => answerPage(request, config.pageDir),
  answerSeriesRequest,
  answerLogger,
  answerWithoutKeyServer,
]

/** Checks whether pages of configured origins may use a path: the paths of PCP's own server. */
export function isCorsPath(path: string): boolean {
  return isApi(path) || /^\/(?:series|search|logger)(?:\/|$)/.test(path)
}

/** Checks for the page or its API, which pages of other origins may never use. */
export function isPagePath(path: string): boolean {
  return path === '/' || path.startsWith('/ui')
}

/** Checks for the page itself, to which links may lead. */
export function isPageFile(path: string): boolean {
  return path === '/' || path === '/ui' || (path.startsWith('/ui/') && !path.startsWith('/ui/api/'))
}

function isApi(path: string): boolean {
  return path === '/metrics' || path === '/metrics/' || path.startsWith('/pmapi/')
}

/** Answers a request. */
export async function answer(request: WebRequest, services: Services): Promise<Reply> {
  for (const group of GROUPS) {
    const reply = await group(request, services)
    if (reply !== undefined) return reply
  }
  return page(404, 'unknown', 'no handler for URL')
}

/** Which part of the server answers what. A new group of routes is one file in routes/ and one line here. docs/pmproxy.md */
import { page, type Reply } from './http/reply.ts'
import type { WebRequest } from './http/request.ts'
import { answerKeyless } from './routes/keyless.ts'
import { answerPageApi } from './routes/page-api.ts'
import { answerPage } from './routes/page-files.ts'
import { answerApi } from './routes/pmapi.ts'
import type { Services } from './services.ts'

/** Answers of a group, or undefined for a path that is another's. */
type Group = (request: WebRequest, services: Services) => Promise<Reply | undefined> | undefined

const GROUPS: readonly Group[] = [
  (request, services) => (isApi(request.path) ? answerApi(request, services) : undefined),
  answerPageApi,
  (request, { config }) => answerPage(request.path, config.pageDir),
  answerKeyless,
]

/** May pages of configured origins have this? What PCP's own server has. */
export function isShared(path: string): boolean {
  return isApi(path) || /^\/(?:series|search|logger)(?:\/|$)/.test(path)
}

/** Is this the page, or its own API, which pages of other origins never get? */
export function isOwn(path: string): boolean {
  return path === '/' || path.startsWith('/ui')
}

/** Is this the page itself, which a link may lead to? */
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

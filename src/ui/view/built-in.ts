/** The built-in views. Those with a key are pages: tabs in the header, reached by number keys and addresses. */
import { GRIDS, NFS_GRIDS } from './grids.ts'
import { OVERVIEW } from './overview.ts'
import { CGROUPS_PAGE } from './pages/cgroups.ts'
import { COLLECTOR_PAGE } from './pages/collector.ts'
import { CPU_PAGE } from './pages/cpu.ts'
import { DISKS_PAGE } from './pages/disks.ts'
import { MEMORY_PAGE } from './pages/memory.ts'
import { NETWORK_PAGE } from './pages/network.ts'
import { NODE_PAGE } from './pages/node-services.ts'
import { PROCESSES_PAGE } from './pages/processes.ts'
import type { View } from './view.ts'

/** A built-in view with its key in addresses, if it is a page. */
interface BuiltInView {
  readonly view: View
  readonly page?: string
}

/** In the order of tabs and lists. The page opens with the first one, unless the user has set another start view. */
const ROWS: readonly BuiltInView[] = [
  { view: OVERVIEW, page: 'overview' },
  { view: CPU_PAGE, page: 'cpu' },
  { view: MEMORY_PAGE, page: 'memory' },
  { view: DISKS_PAGE, page: 'disks' },
  { view: NETWORK_PAGE, page: 'network' },
  { view: PROCESSES_PAGE, page: 'processes' },
  { view: CGROUPS_PAGE, page: 'cgroups' },
  { view: NODE_PAGE, page: 'node' },
  { view: COLLECTOR_PAGE, page: 'collector' },
  { view: GRIDS },
  { view: NFS_GRIDS },
]

export const BUILT_IN_VIEWS: readonly View[] = ROWS.map(({ view }) => view)

/** A page: a built-in view with an address. */
export type Page = Required<BuiltInView>

/** The pages, in the order of their number keys. */
export const PAGES: readonly Page[] = ROWS.filter((row): row is Page => row.page !== undefined)

/** Returns the page that a view is, also after it was changed; undefined for other views. */
export function pageOf({ name }: View): Page | undefined {
  return PAGES.find(({ view }) => view.name === name)
}

/** Returns the fragment of a page's address. */
export const toPageFragment = (page: string): string => `#page=${page}`

/** Returns the page that a fragment names, as one of several parameters; undefined without a known one. */
export function fromPageFragment(fragment: string): Page | undefined {
  const wanted = new URLSearchParams(fragment.replace(/^#/, '')).get('page')
  return PAGES.find(({ page }) => page === wanted)
}

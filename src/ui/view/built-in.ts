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

/** A built-in view with its key in addresses. */
export interface Page {
  readonly view: View
  readonly page: string
}

/** Views without a tab. */
const OTHERS: readonly Page[] = [
  { view: GRIDS, page: 'grids' },
  { view: NFS_GRIDS, page: 'nfs-grids' },
]

/** The pages, in the order of their tabs and number keys. The page opens with the first one, unless the user has set another start view. */
export const PAGES: readonly Page[] = [
  { view: OVERVIEW, page: 'overview' },
  { view: CPU_PAGE, page: 'cpu' },
  { view: MEMORY_PAGE, page: 'memory' },
  { view: DISKS_PAGE, page: 'disks' },
  { view: NETWORK_PAGE, page: 'network' },
  { view: PROCESSES_PAGE, page: 'processes' },
  { view: CGROUPS_PAGE, page: 'cgroups' },
  { view: NODE_PAGE, page: 'node' },
  { view: COLLECTOR_PAGE, page: 'collector' },
]

/** All built-in views, in the order of lists. */
export const BUILT_IN_VIEWS: readonly View[] = [...PAGES, ...OTHERS].map(({ view }) => view)

let pmchartViews: readonly Page[] = []

/** Sets the views of pmchart, which are in the lazily loaded part; `viewOfPage` and `pageKeyOf` know them from then on. */
export function setPmchartViews(found: readonly Page[]): void {
  pmchartViews = found
}

const allViews = (): readonly Page[] => [...PAGES, ...OTHERS, ...pmchartViews]

/** Checks whether a view of this name is built in, as far as they are loaded. */
export const isBuiltInName = (name: string): boolean => allViews().some(({ view }) => view.name === name)

/** Returns the page that a view is, also after it was changed; undefined for other views. */
export function pageOf({ name }: View): Page | undefined {
  return PAGES.find(({ view }) => view.name === name)
}

/** Returns a fragment that leads to a page. */
export const toPageFragment = (page: string): string => `#page=${page}`

/** Returns the key of a built-in view; undefined for others, also changed ones. */
export function pageKeyOf(view: View): string | undefined {
  return allViews().find((each) => each.view === view)?.page
}

/** Returns the built-in view of a key. */
export function viewOfPage(key: string): View | undefined {
  return allViews().find(({ page }) => page === key)?.view
}

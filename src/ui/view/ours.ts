/** Views there are without being kept. */
import { GRIDS, NFS_GRIDS } from './grids.ts'
import { OVERVIEW } from './overview.ts'
import type { View } from './view.ts'

/** The first is what a page opens on that was told nothing else. */
export const OUR_VIEWS: readonly View[] = [OVERVIEW, GRIDS, NFS_GRIDS]

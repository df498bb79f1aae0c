/** Where instance caches are saved. */
import { join } from 'node:path'

/** Returns the directory of PCP's caches: `$PCP_VAR_DIR/config/pmda`. */
export function cacheDir(env: Readonly<Record<string, string | undefined>>): string {
  return join(env['PCP_VAR_DIR'] ?? '/var/lib/pcp', 'config', 'pmda')
}

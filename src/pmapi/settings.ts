/** Settings of this system as in libpcp: the environment, completed from pcp.conf. pcp.conf(5) */
import { PcpError } from '../model/errors.ts'
import { loadConfig, type Variables } from '../sys/config.ts'

/** Returns all variables. ENOENT if the file that PCP_CONF or PCP_DIR names is missing, EACCES if another user controls it. */
export function settingsOf(env: Variables = process.env): Variables {
  try {
    return loadConfig(env).variables
  } catch (error) {
    throw PcpError.from(error)
  }
}

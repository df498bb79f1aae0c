/** Users who may run containers without root: those with a runtime directory, which exists while they have a session. */
import { rooted } from '../proc.ts'
import { asText, type EngineFiles, jsonObject, MAX_CONFIG } from './engine-files.ts'

/** Directories of a user. */
export interface ContainerUser {
  readonly uid: number
  /** Storage of podman and buildah. */
  readonly storage: string
  /** Its runtime counterpart. */
  readonly runStorage: string
  readonly dockerDir: string
}

/** Most users. */
const MAX_USERS = 64

/**
 * Returns the users with a directory in /run/user, by number. Homes are those of /etc/passwd; the own user's directories also
 * follow HOME and XDG_DATA_HOME.
 */
export function containerUsers(
  root: string,
  files: EngineFiles,
  env: Readonly<Record<string, string | undefined>>,
): readonly ContainerUser[] {
  const uids = files
    .names('/run/user', (name) => /^[1-9]\d{0,9}$/.test(name))
    .map(Number)
    .sort((one, other) => one - other)
    .slice(0, MAX_USERS)
  if (uids.length === 0) return []
  const homes = files.parsed('/etc/passwd', MAX_CONFIG, parseHomes)
  return uids.flatMap((uid) => {
    const isOwn = root === '/' && uid === process.geteuid?.()
    const home = (isOwn ? env['HOME'] : undefined) ?? homes?.get(uid)
    if (home === undefined || !home.startsWith('/')) return []
    const data = (isOwn ? env['XDG_DATA_HOME'] : undefined) || `${home}/.local/share`
    return [
      {
        uid,
        storage:
          files.parsed(`${home}/.config/containers/storage.conf`, MAX_CONFIG, parseStorageConf, uid)
            ?.graphroot ?? `${data}/containers/storage`,
        runStorage: `/run/user/${uid}/containers`,
        dockerDir: `${data}/docker`,
      },
    ]
  })
}

function parseHomes(text: string): ReadonlyMap<number, string> {
  const homes = new Map<number, string>()
  for (const line of text.split('\n')) {
    const [, , uid = '', , , home = ''] = line.split(':')
    if (/^\d+$/.test(uid) && !homes.has(Number(uid))) homes.set(Number(uid), home)
  }
  return homes
}

/** Parses the directories in storage.conf of podman, CRI-O and buildah: `graphroot = "/srv/containers"`. */
export function parseStorageConf(text: string): {
  readonly graphroot: string | undefined
  readonly runroot: string | undefined
} {
  const setting = (name: string): string | undefined =>
    new RegExp(`^\\s*${name}\\s*=\\s*["'](/[^"']*)["']`, 'm').exec(text)?.[1]
  return { graphroot: setting('graphroot'), runroot: setting('runroot') }
}

/** Parses docker's directory in daemon.json; '' if it is the default. */
export function parseDockerConf(text: string): string | undefined {
  const conf = jsonObject(text)
  if (conf === undefined) return undefined
  const given = asText(conf['data-root']) ?? asText(conf['graph'])
  return given?.startsWith('/') === true ? rooted('/', given.replace(/\/+$/, '')) : ''
}

/** Where a cluster's API is and how to authenticate: the service account of a pod, or a kubeconfig file. */
import { execFile } from 'node:child_process'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { PcpError } from '../../model/errors.ts'
import type { TlsFiles } from '../../net/http-client.ts'
import { readSmall } from '../read-small.ts'
import { parseYaml } from '../yaml.ts'

/** Access to a cluster. */
export interface Cluster {
  readonly server: string
  readonly tls: TlsFiles
  /** Returns the current token: files are read again, because tokens are replaced before they expire. */
  readonly token: () => Promise<string | undefined>
  /** The token was refused: the next one must be new. */
  readonly forgetToken: () => void
  /** Namespace of this pod or of the context. */
  readonly namespace: string
}

/** Environment of `openCluster`. */
export interface ClusterIo {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** Directory of the service account; default that of pods. */
  readonly accountDir?: string
  readonly nowMs?: () => number
}

const ACCOUNT_DIR = '/var/run/secrets/kubernetes.io/serviceaccount'
const EXEC_TIMEOUT_MS = 30_000
/** Time in milliseconds by which a token is replaced before it expires. */
const EARLY_MS = 60_000

/** Opens the cluster of a kubeconfig file, of this pod, or of $KUBECONFIG or ~/.kube/config, in this order. */
export async function openCluster(kubeconfig: string | undefined, io: ClusterIo): Promise<Cluster> {
  const { env, cwd, accountDir = ACCOUNT_DIR } = io
  if (kubeconfig !== undefined) return await fromFile(resolve(cwd, kubeconfig), io)
  if (env['KUBERNETES_SERVICE_HOST'] !== undefined) return fromPod(env, accountDir)
  const [first] = (env['KUBECONFIG'] ?? '').split(':')
  return await fromFile(first ? resolve(cwd, first) : join(env['HOME'] ?? homedir(), '.kube', 'config'), io)
}

function fromPod(env: ClusterIo['env'], dir: string): Cluster {
  const host = env['KUBERNETES_SERVICE_HOST']!
  const port = env['KUBERNETES_SERVICE_PORT_HTTPS'] ?? env['KUBERNETES_SERVICE_PORT'] ?? '443'
  return {
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    tls: { ca: readSmall(join(dir, 'ca.crt')) },
    token: async () => readSmall(join(dir, 'token')).trim(),
    forgetToken: () => {},
    namespace: readSmall(join(dir, 'namespace')).trim(),
  }
}

type Fields = Readonly<Record<string, unknown>>

async function fromFile(path: string, { nowMs = Date.now }: ClusterIo): Promise<Cluster> {
  const config = fields(await parseYaml(readSmall(path), path))
  const contextName = config['current-context']
  const named = (list: string, item: string, name: unknown): Fields => {
    const all = config[list]
    const found = Array.isArray(all) ? all.map(fields).find((each) => each['name'] === name) : undefined
    if (found === undefined)
      throw new PcpError('PM_ERR_CONV', `${path}: no ${item} "${String(name)}" in its list of ${list}`)
    return fields(found[item])
  }
  const context = named('contexts', 'context', contextName)
  const cluster = named('clusters', 'cluster', context['cluster'])
  const user = context['user'] === undefined ? {} : named('users', 'user', context['user'])
  const { server } = cluster
  if (typeof server !== 'string') throw new PcpError('PM_ERR_CONV', `${path}: the cluster has no server`)
  const pem = (from: Fields, name: string): string | undefined => {
    const data = from[`${name}-data`]
    if (typeof data === 'string') return Buffer.from(data, 'base64').toString()
    const file = from[name]
    return typeof file === 'string' ? readSmall(resolve(dirname(path), file)) : undefined
  }
  const ca = pem(cluster, 'certificate-authority')
  const cert = pem(user, 'client-certificate')
  const key = pem(user, 'client-key')
  return {
    server,
    tls: {
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
      ...(cluster['insecure-skip-tls-verify'] === true ? { rejectUnauthorized: false } : {}),
    },
    ...tokenOf(user, path, nowMs),
    namespace: typeof context['namespace'] === 'string' ? context['namespace'] : 'default',
  }
}

function tokenOf(user: Fields, path: string, nowMs: () => number): Pick<Cluster, 'token' | 'forgetToken'> {
  const { tokenFile, token, exec } = user
  const forgetToken = (): void => {}
  if (typeof tokenFile === 'string') {
    const file = resolve(dirname(path), tokenFile)
    return { token: async () => readSmall(file).trim(), forgetToken }
  }
  if (typeof token === 'string') return { token: async () => token, forgetToken }
  if (exec === undefined) return { token: async () => undefined, forgetToken }
  let current: { readonly text: string; readonly endsMs: number } | undefined
  return {
    token: async () => {
      if (current === undefined || current.endsMs - EARLY_MS <= nowMs())
        current = await runPlugin(fields(exec), path)
      return current.text
    },
    forgetToken: () => {
      current = undefined
    },
  }
}

/** Runs the credential plugin of a kubeconfig file. */
async function runPlugin(exec: Fields, path: string): Promise<{ text: string; endsMs: number }> {
  const { command, args, env, apiVersion } = exec
  if (typeof command !== 'string') throw new PcpError('PM_ERR_CONV', `${path}: "exec" has no command`)
  const program = command.includes('/') ? resolve(dirname(path), command) : command
  const own = Array.isArray(env)
    ? env.map(fields).map(({ name, value }) => [String(name), String(value)])
    : []
  const info = JSON.stringify({ apiVersion, kind: 'ExecCredential', spec: { interactive: false } })
  const output = await new Promise<string>((done, fail) => {
    const options = {
      timeout: EXEC_TIMEOUT_MS,
      env: { ...process.env, ...Object.fromEntries(own), KUBERNETES_EXEC_INFO: info },
    }
    const words = Array.isArray(args) ? args.map(String) : []
    execFile(program, words, options, (error, stdout) => {
      if (error === null) done(stdout)
      else fail(new PcpError('PM_ERR_GENERIC', `${program}: ${error.message.split('\n')[0]}`))
    })
  })
  let status: Fields = {}
  try {
    status = fields(fields(JSON.parse(output))['status'])
  } catch {
    // reported below: without a token
  }
  const { token, expirationTimestamp } = status
  if (typeof token !== 'string') throw new PcpError('PM_ERR_CONV', `${program}: printed no token`)
  const ends = typeof expirationTimestamp === 'string' ? Date.parse(expirationTimestamp) : Number.NaN
  return { text: token, endsMs: Number.isNaN(ends) ? Number.POSITIVE_INFINITY : ends }
}

function fields(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}
